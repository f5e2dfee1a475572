#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <thread>

#include "comm/harness.hpp"
#include "dsea/comm/local_transport.hpp"

namespace comm_test {
namespace {

thread_local std::barrier<>* meeting = nullptr;

}  // namespace

void on_every_rank(const std::function<void(dsea::Transport&)>& body, const Options&) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    auto transports = dsea::make_local_transports(ranks);
    std::barrier<> all(ranks);
    {
      std::vector<std::jthread> threads;
      for (auto& transport : transports) {
        threads.emplace_back([&] {
          SCOPED_TRACE(testing::Message() << "rank " << transport->rank() << " of " << ranks);
          meeting = &all;
          try {
            body(*transport);
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
          }
          all.arrive_and_drop();
        });
      }
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

void barrier() { meeting->arrive_and_wait(); }

bool sender_sees_mismatch() { return true; }

bool moves_device_memory() { return false; }

}  // namespace comm_test
