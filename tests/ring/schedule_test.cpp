#include "dsea/ring/schedule.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using dsea::Order;
using dsea::Schedule;

TEST(Schedule, KindsFollowEachOtherThenTheClosingPassThenNothing) {
  const Schedule s({{1, 0}, {2, 1}}, Order{3, 0}, 3, 4);
  EXPECT_EQ(s.kinds(), 2);
  EXPECT_EQ(s.substeps(), 7);
  EXPECT_EQ(s.supercycles(), 2);
  EXPECT_EQ(s.substep(1, 1), 5);
  const int kinds[] = {0, 1, 0, 1, 0, 1, 2, Schedule::hand_on, Schedule::hand_on};
  const int steps[] = {0, 0, 1, 1, 2, 2, 3, 3, 3};
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(s.kind(i), kinds[i]) << i;
    EXPECT_EQ(s.step(i), steps[i]) << i;
  }
  EXPECT_EQ(s.order(1), (Order{2, 1}));
  EXPECT_EQ(s.order(6), (Order{3, 0}));
  EXPECT_EQ(s.order(7), (Order{0, 0}));
}

TEST(Schedule, AProgramMayCoverSeveralSteps) {
  const Schedule s({{1, 0}, {2, 0}, {1, 0}, {2, 1}}, Order{3, 0}, 3, 4, 2);
  EXPECT_EQ(s.kinds_a_step(), 2);
  EXPECT_EQ(s.substeps(), 7);
  const int kinds[] = {0, 1, 2, 3, 0, 1, 4, Schedule::hand_on};
  const int steps[] = {0, 0, 1, 1, 2, 2, 3, 3};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(s.kind(i), kinds[i]) << i;
    EXPECT_EQ(s.step(i), steps[i]) << i;
    EXPECT_EQ(s.starts_step(s.kind(i)), i == 0 || i == 2 || i == 4 || i == 6) << i;
  }
  EXPECT_EQ(s.order(3), (Order{2, 1}));
  EXPECT_EQ(s.order(6), (Order{3, 0}));
  EXPECT_DOUBLE_EQ(s.mean_order_sum(), 1.75);
}

TEST(Schedule, SlicesGoAroundOnceEvenWithoutSteps) {
  EXPECT_EQ(Schedule({{1, 1}}, std::nullopt, 0, 5).supercycles(), 1);
  EXPECT_EQ(Schedule({{1, 1}}, std::nullopt, 5, 5).supercycles(), 1);
  EXPECT_EQ(Schedule({{1, 1}}, Order{1, 0}, 5, 5).supercycles(), 2);
}

TEST(Schedule, RingNeedOfOneKind) {
  const Schedule s({{1, 2}}, std::nullopt, 100, 4);
  EXPECT_EQ(s.ring_need(0, false, false), 7);
  EXPECT_EQ(s.ring_need(3, false, false), 7);  // a ring of one process
  EXPECT_EQ(s.ring_need(3, true, false), 3);   // rank 0 receives
  EXPECT_EQ(s.ring_need(1, false, true), 5);   // a process sends
  EXPECT_EQ(s.slots_needed(20, true), 20 + 1 + 4 * 3);
  EXPECT_EQ(s.slots_needed(3, true), 3 + 1 + 4 * 2);  // a worker holds at most N - 1 slices twice
  EXPECT_DOUBLE_EQ(s.mean_order_sum(), 3);
}

TEST(Schedule, NothingIsNeededInAllWhenSlicesGoAroundOnce) {
  const Schedule s({{1, 1}}, std::nullopt, 4, 4);
  EXPECT_EQ(s.slots_needed(20, false), 0);
  EXPECT_EQ(s.slots_needed(20, true), 29);
}

/// Sub-step by sub-step, without knowing that kinds repeat.
TEST(Schedule, NeedsAreThoseOfEverySuperCycle) {
  std::mt19937_64 random(5);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<Order> kinds(static_cast<std::size_t>(pick(1, 5)));
    for (Order& o : kinds) o = {pick(0, 7), pick(0, 7)};
    const auto finish = pick(0, 1) == 0 ? std::nullopt : std::optional(Order{pick(0, 7), 0});
    const int positions = pick(1, 9), slices = pick(1, 20);
    const Schedule s(kinds, finish, pick(0, 60), positions);
    for (int position = 0; position < positions; ++position) {
      Order largest;
      int need = position == positions - 1 ? 2 * s.order(0).in + 1 : 1;
      int receiving = need, sending = 1;
      for (std::int64_t c = 0; c < s.supercycles(); ++c) {
        const Order writer = s.order(s.substep(position, c)), reader = s.order(s.substep(position, c) + 1);
        largest = {std::max(largest.in, writer.in), std::max(largest.out, writer.out)};
        need = std::max(need, 2 * writer.out + 2 * reader.in + 1);
        receiving = std::max(receiving, 2 * reader.in + 1);
        sending = std::max(sending, 2 * writer.out + 1);
      }
      ASSERT_EQ(s.largest_order(position), largest);
      ASSERT_EQ(s.ring_need(position, false, false), need);
      ASSERT_EQ(s.ring_need(position, true, false), receiving);
      ASSERT_GE(s.ring_need(position, false, true), sending);
    }
    int sum = 0;
    for (std::int64_t first = 0; first <= (s.supercycles() - 1) * positions; ++first) {
      int window = 0;
      for (int k = 0; k < positions; ++k) {
        const Order o = s.order(first + k);
        window += std::min(o.in + o.out, slices - 1);
      }
      sum = std::max(sum, window);
    }
    ASSERT_EQ(s.slots_needed(slices, true), slices + 1 + sum);
    ASSERT_EQ(s.slots_needed(slices, false), s.supercycles() == 1 ? 0 : slices + 1 + sum);
  }
}

}  // namespace
