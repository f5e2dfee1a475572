#include "dsea/comm/local_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "comm/harness.hpp"
#include "dsea/base/error.hpp"

namespace {

using namespace comm_test;
using namespace std::chrono_literals;
using dsea::Segment;

TEST(LocalTransport, NeedsARank) {
  EXPECT_THROW(dsea::make_local_transports(0), dsea::UsageError);
  EXPECT_EQ(dsea::make_local_transports(3).size(), 3u);
}

TEST(LocalTransport, AFailureWakesAllForGood) {
  for (int ranks = 2; ranks <= 5; ++ranks) {
    auto transports = dsea::make_local_transports(ranks);
    std::atomic<int> waiting{0};
    int expected = ranks;  // and one more for each that takes slices of the start, but not from rank 1
    std::vector<std::jthread> threads;
    for (auto& transport : transports) {
      if (transport->rank() == 1) continue;
      if (comm_test::previous(*transport) != 1) {
        threads.emplace_back([&] {  // the thread that takes slices of the start
          Bytes in(100'000);
          start(transport->load_from_previous(), in);
          ++waiting;
          while (!transport->load_from_previous().wait(1h)) {
            if (transport->peer_failed()) break;
          }
          EXPECT_TRUE(transport->peer_failed());
          EXPECT_FALSE(transport->load_from_previous().wait(1h));
        });
        ++expected;
      }
      threads.emplace_back([&] {  // the thread that owns the ring
        ++waiting;
        try {
          transport->gather(Bytes(100'000), 1h);
          ADD_FAILURE() << "rank 1 did not take part";
        } catch (const dsea::RunError& error) {
          EXPECT_NE(std::string(error.what()).find("another rank failed"), std::string::npos) << error.what();
        }
      });
    }
    threads.emplace_back([&] {  // load thread of the rank that fails, towards one that does not receive
      Bytes out(100'000);
      start(transports[1]->load_to_next(), out);
      ++waiting;
      while (!transports[1]->load_to_next().wait(1h)) {
        if (transports[1]->peer_failed()) break;
      }
      EXPECT_TRUE(transports[1]->peer_failed());
    });
    while (waiting < expected) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(10ms);  // most of them wait by now
    transports[1]->fail(3, "");
    EXPECT_TRUE(transports[1]->peer_failed());
    threads.clear();

    Bytes late(100'000);
    start(transports[0]->to_next(), late);
    EXPECT_FALSE(transports[0]->to_next().wait(1h)) << "started after the failure";
    transports[0]->fail(3, "");  // a second one
  }
}

TEST(LocalTransport, DeviceMemoryGoesThroughTheCopyFunction) {
  auto transports = dsea::make_local_transports(2);
  EXPECT_FALSE(transports[1]->takes_device_memory());
  std::size_t copied = 0;
  for (auto& transport : transports) {
    transport->set_copy([&copied](void* to, const void* from, std::size_t bytes) {
      std::memcpy(to, from, bytes);
      copied += bytes;
    });
    EXPECT_TRUE(transport->takes_device_memory());
  }
  Bytes out = content(0, 0, 300);
  Bytes in(out.size());
  const Segment sent[] = {{out.data(), 100, false}, {out.data() + 100, 200, true}};
  const Segment received[] = {{in.data(), 50, true}, {in.data() + 50, 200, false}, {in.data() + 250, 50, true}};
  transports[0]->to_next().start(sent);
  transports[1]->from_previous().start(received);
  EXPECT_FALSE(transports[0]->to_next().wait(0s)) << "device memory is not buffered";
  finish(transports[1]->from_previous());
  finish(transports[0]->to_next());
  EXPECT_EQ(in, out);
  EXPECT_EQ(copied, 250u) << "all but bytes 50 to 100, which are host memory on both sides";
}

/// A receiver in the middle of its copy.
struct SlowCopy {
  SlowCopy() {
    transports[1]->set_copy([this](void* to, const void* from, std::size_t bytes) {
      copying = true;
      std::this_thread::sleep_for(50ms);
      std::memcpy(to, from, bytes);
      copied = true;
    });
    transports[0]->set_copy([](void*, const void*, std::size_t) {});
    const Segment from{out->data(), out->size(), true};
    transports[0]->to_next().start({&from, 1});
    receiver = std::jthread([this] {
      const Segment to{in.data(), in.size(), true};
      transports[1]->from_previous().start({&to, 1});
      received = transports[1]->from_previous().wait(1h);
    });
    while (!copying) std::this_thread::sleep_for(1ms);
  }

  std::vector<std::unique_ptr<dsea::Transport>> transports = dsea::make_local_transports(2);
  std::unique_ptr<Bytes> out = std::make_unique<Bytes>(content(0, 0, 100'000));
  Bytes in = Bytes(100'000);
  std::atomic<bool> copying{false};
  std::atomic<bool> copied{false};
  bool received = false;
  std::jthread receiver;
};

TEST(LocalTransport, AFailureLeavesNoCopyUnderWay) {
  SlowCopy slow;
  slow.transports[0]->fail(3, "");
  EXPECT_TRUE(slow.copied);
  slow.out.reset();  // the address sanitizer sees it if the copy goes on
  slow.receiver.join();
  EXPECT_TRUE(slow.received);
  EXPECT_TRUE(slow.transports[0]->to_next().wait(0s)) << "this transfer was completed";
}

TEST(LocalTransport, ARankThatLeavesEndsItsCopyFirst) {
  SlowCopy slow;
  slow.transports[0].reset();
  EXPECT_TRUE(slow.copied);
  slow.out.reset();
  slow.receiver.join();
  EXPECT_TRUE(slow.received);

  Bytes in(10);
  start(slow.transports[1]->from_previous(), in);
  EXPECT_THROW(slow.transports[1]->from_previous().wait(1h), dsea::RunError);
  Bytes out(100'000);
  start(slow.transports[1]->to_next(), out);
  EXPECT_THROW(slow.transports[1]->to_next().wait(1h), dsea::RunError);
}

TEST(LocalTransport, BufferedTransfersOutliveTheirSender) {
  auto transports = dsea::make_local_transports(2);
  for (std::uint64_t i = 0; i < 3; ++i) {
    Bytes out = content(0, i, 1000);
    start(transports[0]->to_next(), out);
    EXPECT_TRUE(transports[0]->to_next().wait(0s));
  }
  transports[0].reset();
  for (std::uint64_t i = 0; i < 3; ++i) {
    Bytes in(1000);
    start(transports[1]->from_previous(), in);
    finish(transports[1]->from_previous());
    EXPECT_EQ(in, content(0, i, 1000));
  }
}

TEST(LocalTransport, ACopyThatThrowsBreaksTheConnection) {
  auto transports = dsea::make_local_transports(2);
  for (auto& transport : transports) {
    transport->set_copy([](void*, const void*, std::size_t) { throw std::runtime_error("no such device"); });
  }
  Bytes out(10), in(10);
  const Segment from{out.data(), out.size(), true};
  const Segment to{in.data(), in.size(), false};
  transports[0]->to_next().start({&from, 1});
  transports[1]->from_previous().start({&to, 1});
  EXPECT_THROW(transports[1]->from_previous().wait(1h), dsea::RunError);
  try {
    transports[0]->to_next().wait(1h);
    ADD_FAILURE() << "the sender must see it too";
  } catch (const dsea::RunError& error) {
    EXPECT_NE(std::string(error.what()).find("no such device"), std::string::npos) << error.what();
  }
}

}  // namespace
