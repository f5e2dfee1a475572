#include "dsea/base/backoff.hpp"

#include <gtest/gtest.h>

namespace dsea {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, StartsShortAndGrows) {
  Backoff backoff;
  for (const Backoff::Duration expected : {20us, 40us, 80us, 160us, 200us, 200us}) EXPECT_EQ(backoff.next(), expected);
}

TEST(Backoff, GrowsWithTheTimeWaited) {
  Backoff backoff;
  Backoff::Duration idle{0};
  while (idle < 6ms) {
    const Backoff::Duration pause = backoff.next();
    EXPECT_LE(pause, 200us);
    idle += pause;
  }
  int looks = 0;
  for (; idle < 300ms; ++looks) {
    const Backoff::Duration pause = backoff.next();
    EXPECT_LE(pause, std::max<Backoff::Duration>(200us, idle / 32));
    EXPECT_GE(pause, std::max<Backoff::Duration>(200us, idle / 40));
    idle += pause;
  }
  EXPECT_LT(looks, 150);
  for (int i = 0; i < 100; ++i) backoff.next();
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(backoff.next(), 10ms);
}

TEST(Backoff, ResetMakesItShortAgain) {
  Backoff backoff;
  for (int i = 0; i < 1000; ++i) backoff.next();
  EXPECT_EQ(backoff.next(), 10ms);
  backoff.reset();
  EXPECT_EQ(backoff.next(), 20us);
  for (int i = 0; i < 30; ++i) EXPECT_LE(backoff.next(), 200us);
}

TEST(Backoff, PauseTakesAtLeastItsTime) {
  Backoff backoff;
  const auto start = std::chrono::steady_clock::now();
  backoff.pause();
  backoff.pause();
  EXPECT_GE(std::chrono::steady_clock::now() - start, 60us);
}

}  // namespace
}  // namespace dsea
