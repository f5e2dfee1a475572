// What the plan says of fields that go ahead of their slices, against rings of state machines in which work and
// transfers take their time.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dsea/ring/final_fields.hpp"
#include "dsea/slice/header.hpp"
#include "ring/plan_helpers.hpp"
#include "ring/timed_ring.hpp"

namespace {

using namespace dsea;

constexpr std::int64_t stage = 27720;  // ticks; many numbers divide it

/// A kind makes `made` and, if `carries`, hands on the rest, which is the given share of all bytes on the wire.
Problem with_share(int slabs, const std::vector<Order>& orders, const std::vector<bool>& carries, double share) {
  Problem p;
  p.slabs = slabs;
  p.elements = slabs;
  const auto made = p.layout.list<double>("made", 100'000);
  const double fixed = sizeof(SliceHeader) + 800'000.0;
  const auto load = p.layout.grid<double>("load", std::max(1LL, std::llround(fixed * share / (1 - share) / 8)));
  for (std::size_t k = 0; k < orders.size(); ++k) {
    Kind kind = test::kind("kind" + std::to_string(k), orders[k], made);
    if (carries[k]) kind.carries(load);
    p.kinds.push_back(kind);
  }
  return p;
}

class AheadRate : public testing::Test {
 protected:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  PlanRequest request(int kinds) {
    PlanRequest r;
    r.processes = pick(2, 5);
    r.workers = pick(1, 4);
    r.at_once = pick(0, 1) == 1;
    r.slots = SlotChoice::given;  // so many that none is waited for
    r.slots_per_ring = 200;
    r.steps = 12LL * r.processes * r.workers / kinds;
    return r;
  }

  /// Stages that a super-cycle takes.
  double period(const Problem& problem, const RingPlan& plan, std::int64_t link = stage) {
    sim::TimedRing ring(problem, plan, stage, link);
    EXPECT_TRUE(ring.run());
    went_ahead_ = ring.went_ahead();
    return ring.period() / stage;
  }

  std::mt19937_64 random_{5};
  std::int64_t went_ahead_ = 0;
};

TEST_F(AheadRate, OneKindTakesTheStagesOfTheModel) {
  int limited = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem = with_share(pick(15, 60), {{pick(0, 2), pick(0, 2)}}, {true}, pick(26, 99) / 100.0);
    const RingPlan plan(problem, request(1));
    const double expected = problem.slabs / plan.efficiency();
    limited += plan.efficiency() < 1;
    EXPECT_NEAR(period(problem, plan), expected, 1e-3) << plan.text();
    EXPECT_GT(went_ahead_, 0);
    // With the plan's own number of slots workers that take turns wait for a part of a stage here and there.
    PlanRequest automatic = plan.request();
    automatic.slots = SlotChoice::automatic;
    EXPECT_NEAR(period(problem, RingPlan(problem, automatic)), expected, 1) << plan.text();
  }
  EXPECT_GT(limited, 30);
}

TEST_F(AheadRate, WithoutFinalFieldsItIsTheUsualTwo) {
  for (int trial = 0; trial < 50; ++trial) {
    const Problem problem = with_share(pick(15, 60), {{pick(0, 2), pick(0, 2)}}, {false}, 0.5);
    const RingPlan plan(problem, request(1));
    const ScalingModel& s = plan.scaling();
    EXPECT_EQ(s.lag(), (s.at_once ? 1 + s.workers : 2) + s.order_sum);
    EXPECT_NEAR(period(problem, plan), problem.slabs / plan.efficiency(), 1e-3) << plan.text();
    EXPECT_EQ(went_ahead_, 0);
  }
}

TEST_F(AheadRate, LinksOfAnySpeedTakeTheExpectedTime) {
  int limited = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem = with_share(pick(24, 60), {{pick(0, 2), pick(0, 2)}}, {true}, pick(26, 99) / 100.0);
    PlanRequest r = request(1);
    r.rate = r.workers;  // a stage of work is a second
    const double link = pick(1, 20) / 10.0;
    r.bandwidth = static_cast<double>(RingPlan(problem, r).wire_bytes()) / link;
    const RingPlan plan(problem, r);
    const double lag = plan.lag_seconds() * r.processes;
    const double expected = std::max(problem.slabs * plan.stage_seconds(), lag);
    limited += lag == expected;
    EXPECT_NEAR(period(problem, plan, std::llround(link * stage)), expected, 1e-3) << plan.text();
  }
  EXPECT_GT(limited, 30);
}

TEST_F(AheadRate, SeveralKindsComeCloseToTheModel) {
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Order> orders(static_cast<std::size_t>(pick(2, 4)));
    std::vector<bool> carries;
    for (Order& o : orders) {
      o = {pick(0, 2), pick(0, 2)};
      carries.push_back(pick(0, 2) > 0);
    }
    const Problem problem = with_share(pick(20, 60), orders, carries, pick(26, 99) / 100.0);
    const RingPlan plan(problem, request(static_cast<int>(orders.size())));
    const double expected = problem.slabs / plan.efficiency();
    EXPECT_NEAR(period(problem, plan), expected, 0.06 * expected + 1) << plan.text();
  }
}

}  // namespace
