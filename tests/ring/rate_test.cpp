// The plan's N_max and its automatic slots against rings that go in step: how many stages a super-cycle takes.
#include <gtest/gtest.h>

#include <random>

#include "dsea/ring/ring_plan.hpp"
#include "ring/lockstep_ring.hpp"
#include "ring/plan_helpers.hpp"

namespace {

using namespace dsea;
using sim::LockstepRing;

/// Stages a super-cycle takes in the middle of a run.
double period(const RingPlan& plan) {
  const PlanRequest& r = plan.request();
  std::vector<std::vector<int>> slots;
  for (int p = 0; p < r.processes; ++p) slots.push_back(plan.setup(p).slots);
  LockstepRing ring(plan.schedule(), plan.topology().slices(), r.processes, r.workers, r.at_once, slots);
  while (ring.stage()) {
  }
  EXPECT_TRUE(ring.done());
  const auto& begin = ring.beginnings();
  const std::size_t first = begin.size() / 2, last = begin.size() - 2;
  return static_cast<double>(begin[last] - begin[first]) / static_cast<double>(last - first);
}

TEST(Rate, OneKindTakesExactlyTheStagesOfTheModel) {
  std::mt19937_64 random(2);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int limited = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const int slices = pick(15, 70);
    PlanRequest request;
    request.processes = pick(2, 5);
    request.workers = pick(1, 4);
    request.at_once = pick(0, 1) == 1;
    request.steps = 12LL * request.processes * request.workers;
    const RingPlan plan(test::problem(slices, false, {{pick(0, 2), pick(0, 2)}}), request);
    const double expected = slices / plan.efficiency();
    limited += plan.efficiency() < 1;
    EXPECT_DOUBLE_EQ(period(plan), expected) << plan.text();
  }
  EXPECT_GT(limited, 30);
}

TEST(Rate, SeveralKindsComeCloseToTheModel) {
  std::mt19937_64 random(3);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int trial = 0; trial < 100; ++trial) {
    const int slices = pick(20, 70), kinds = pick(2, 4);
    std::vector<Order> orders;
    for (int k = 0; k < kinds; ++k) orders.push_back({pick(0, 2), pick(0, 2)});
    PlanRequest request;
    request.processes = pick(2, 5);
    request.workers = pick(1, 4);
    request.at_once = pick(0, 1) == 1;
    request.steps = 14LL * request.processes * request.workers / kinds;
    const RingPlan plan(test::problem(slices, false, orders), request);
    const double expected = slices / plan.efficiency();
    EXPECT_NEAR(period(plan), expected, 0.06 * expected + 1) << plan.text();
  }
}

TEST(Rate, AtTheEdgeOfBlockingARingCrawls) {
  PlanRequest request;
  request.processes = 3;
  request.workers = 3;
  request.steps = 90;
  const Problem problem = test::problem(63, false, {{1, 1}});
  EXPECT_DOUBLE_EQ(period(RingPlan(problem, request)), 63);
  request.slots = SlotChoice::fewest;
  EXPECT_GT(period(RingPlan(problem, request)), 5 * 63);
}

}  // namespace
