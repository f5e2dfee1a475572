#include "dsea/base/signal.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace dsea {
namespace {

using namespace std::chrono_literals;

TEST(Signal, CountsEvents) {
  Signal signal;
  EXPECT_EQ(signal.now(), 0u);
  signal.notify();
  signal.notify();
  EXPECT_EQ(signal.now(), 2u);
}

TEST(Signal, WaitEndsAtOnceIfTheEventIsOld) {
  Signal signal;
  const std::uint64_t seen = signal.now();
  signal.notify();
  EXPECT_TRUE(signal.wait_past(seen, 0ns));
  EXPECT_TRUE(signal.wait_past(seen, -1s));
}

TEST(Signal, WaitEndsWithoutAnEvent) {
  const Signal signal;
  EXPECT_FALSE(signal.wait_past(signal.now(), 1ms));
  EXPECT_FALSE(signal.wait_past(signal.now(), -1s));
}

TEST(Signal, VeryLongTimeoutsDoNotOverflow) {
  Signal signal;
  std::jthread other([&] { signal.notify(); });
  EXPECT_TRUE(signal.wait_past(0, std::chrono::nanoseconds::max()));
}

// Two threads take turns; the time-out is far beyond the test's, so that a lost wake-up hangs the test.
TEST(Signal, LosesNoWakeUp) {
  constexpr int turns = 5000;
  Signal signal;
  std::atomic<int> turn{0};
  const auto play = [&](int parity) {
    while (true) {
      const std::uint64_t seen = signal.now();
      const int now = turn.load();
      if (now >= turns) return;
      if (now % 2 == parity) {
        turn.store(now + 1);
        signal.notify();
      } else {
        ASSERT_TRUE(signal.wait_past(seen, 1h));
      }
    }
  };
  {
    std::jthread other([&] { play(1); });
    play(0);
  }
  EXPECT_EQ(turn.load(), turns);
}

TEST(Signal, WakesAllThatWait) {
  Signal signal;
  std::atomic<int> woken{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        if (signal.wait_past(0, 1h)) ++woken;
      });
    }
    signal.notify();
  }
  EXPECT_EQ(woken.load(), 4);
}

}  // namespace
}  // namespace dsea
