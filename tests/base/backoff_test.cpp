#include "dsea/base/backoff.hpp"

#include <gtest/gtest.h>

namespace dsea {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, StartsShortAndGrows) {
  Backoff backoff;
  for (const Backoff::Duration expected : {20us, 40us, 80us, 160us, 200us, 200us}) EXPECT_EQ(backoff.next(), expected);
}

TEST(Backoff, StaysShortForAWhileThenGrowsToItsEnd) {
  Backoff backoff;
  Backoff::Duration idle{0}, last{0};
  while (idle < 50ms) {
    last = backoff.next();
    EXPECT_LE(last, 200us);
    idle += last;
  }
  for (const Backoff::Duration expected : {400us, 800us, 1600us, 2000us}) EXPECT_EQ(backoff.next(), expected);
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(backoff.next(), 2000us);
}

TEST(Backoff, ResetMakesItShortAgain) {
  Backoff backoff;
  for (int i = 0; i < 1000; ++i) backoff.next();
  EXPECT_EQ(backoff.next(), 2ms);
  backoff.reset();
  EXPECT_EQ(backoff.next(), 20us);
  for (int i = 0; i < 100; ++i) EXPECT_LE(backoff.next(), 200us);
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
