#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <thread>

#include "comm/harness.hpp"
#include "comm/mock_nccl.hpp"
#include "comm/nccl_ranks.hpp"

namespace comm_test {
namespace {

thread_local std::barrier<>* meeting = nullptr;

}  // namespace

void on_every_rank(const std::function<void(dsea::Transport&)>& body, const Options& options) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    mock_nccl::reset();
    NcclRanks all(ranks);
    std::barrier<> end(ranks);
    dsea::NcclOptions nccl;
    if (options.chunk_bytes > 0) nccl.staging_bytes = options.chunk_bytes;
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
          SCOPED_TRACE(testing::Message() << "rank " << rank << " of " << ranks);
          meeting = &end;
          try {
            const auto transport = all.transport(rank, nccl);
            body(*transport);
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
          }
          end.arrive_and_drop();
        });
      }
    }
    EXPECT_EQ(mock_nccl::misuse(), "");
    EXPECT_TRUE(mock_nccl::one_global_order());
    const mock_nccl::Counts counts = mock_nccl::counts();
    EXPECT_EQ(counts.communicators, ranks > 1 ? 2 * ranks : 0);
    EXPECT_EQ(counts.destroyed + counts.aborted, counts.communicators);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void barrier() { meeting->arrive_and_wait(); }

bool sender_sees_mismatch() { return true; }

bool moves_device_memory() { return true; }

}  // namespace comm_test
