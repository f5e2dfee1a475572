#include "dsea/ring/ring_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dsea/base/error.hpp"
#include "dsea/slice/header.hpp"
#include "ring/plan_helpers.hpp"

namespace {

using namespace dsea;

/// Slabs at least as wide as the cut-off in a cube of so many molecules.
double cutoffs_across(double molecules, double density) { return std::cbrt(molecules / density) / 2.5; }

RingPlan paper(int slices, int processes, int workers) {
  PlanRequest request;
  request.steps = 1000;
  request.processes = processes;
  request.workers = workers;
  request.feedback_delay = 100'000;
  return {test::problem(slices, false, {{1, 1}}), request};
}

std::string refusal(const Problem& problem, const PlanRequest& request) {
  try {
    RingPlan(problem, request);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "not refused";
}

TEST(RingPlan, SlicesOfThePaper) {
  EXPECT_EQ(static_cast<int>(cutoffs_across(1e9, 0.30)), 597);
  EXPECT_EQ(static_cast<int>(cutoffs_across(1e8, 0.30)), 277);
  EXPECT_NEAR(cutoffs_across(1e9, 0.5), 504, 0.05);
}

TEST(RingPlan, ABillionMoleculesKeep149GpusBusy) {
  const RingPlan plan = paper(597, 149, 1);
  EXPECT_EQ(static_cast<int>(plan.n_max()), 149);
  EXPECT_EQ(plan.efficiency(), 1);
  EXPECT_TRUE(plan.warnings().empty());
  EXPECT_LT(paper(597, 150, 1).efficiency(), 1);
}

TEST(RingPlan, OneWorkerScalesToNineNodesAndIsFlatFromTen) {
  const RingPlan plan = paper(277, 8, 1);
  EXPECT_EQ(static_cast<int>(plan.n_max()), 69);
  EXPECT_NEAR(plan.n_max() / 8, 8.7, 0.05);
  for (int nodes = 2; nodes <= 8; ++nodes) EXPECT_EQ(plan.relative_throughput(8 * nodes), 8 * nodes);
  EXPECT_GE(plan.relative_throughput(72), 0.95 * 72);
  for (int nodes = 10; nodes <= 20; ++nodes) EXPECT_DOUBLE_EQ(plan.relative_throughput(8 * nodes), plan.n_max());
}

TEST(RingPlan, TwoWorkersScaleToFiveNodesAndAreFlatFromSix) {
  const RingPlan plan = paper(277, 8, 2);
  EXPECT_EQ(static_cast<int>(plan.n_max()), 46);
  EXPECT_NEAR(plan.n_max() / 8, 5.8, 0.05);
  for (int nodes = 1; nodes <= 5; ++nodes) EXPECT_EQ(plan.relative_throughput(8 * nodes), 2 * 8 * nodes);
  for (int nodes = 6; nodes <= 12; ++nodes) EXPECT_DOUBLE_EQ(plan.relative_throughput(8 * nodes), 2 * plan.n_max());
}

TEST(RingPlan, WorkersThatRunAtOnceLagOneMoreEach) {
  PlanRequest request;
  request.processes = 4;
  request.workers = 3;
  request.at_once = true;
  const RingPlan plan(test::problem(80, false, {{1, 1}}), request);
  EXPECT_DOUBLE_EQ(plan.n_max(), 80.0 / (1 + 3 * (1 + 1 + 1)));
  EXPECT_NE(plan.text().find("run at once"), std::string::npos);
  request.at_once = false;
  EXPECT_DOUBLE_EQ(RingPlan(test::problem(80, false, {{1, 1}}), request).n_max(), 80.0 / (2 + 3 * (1 + 1)));
  // A folded axis has half as many slices.
  EXPECT_DOUBLE_EQ(RingPlan(test::problem(80, true, {{1, 1}}), request).n_max(), 40.0 / 8);
}

TEST(RingPlan, OneProcessWhoseWorkersTakeTurnsIsAlwaysBusy) {
  PlanRequest request;
  request.workers = 6;
  EXPECT_EQ(RingPlan(test::problem(8, false, {{1, 1}}), request).efficiency(), 1);
  request.at_once = true;
  EXPECT_DOUBLE_EQ(RingPlan(test::problem(8, false, {{1, 1}}), request).efficiency(), 8.0 / 18);
}

TEST(RingPlan, SlotsAreTheNeedPlusDepthWithTheRestInTheInputRings) {
  PlanRequest request;
  request.steps = 100;
  request.processes = 3;
  request.workers = 2;
  request.slots = SlotChoice::fewest;
  const Problem problem = test::problem(50, false, {{1, 1}});
  const RingPlan fewest(problem, request);
  EXPECT_EQ(fewest.slots_needed_in_all(), 50 + 1 + 12);
  EXPECT_EQ(fewest.slots_in_all(), 63);
  EXPECT_EQ(fewest.slots_needed(0, 0), 3);
  EXPECT_EQ(test::slots(fewest), (std::vector<std::vector<int>>{{13, 5, 3}, {13, 5, 3}, {13, 5, 3}}));
  request.slots = SlotChoice::automatic;
  EXPECT_EQ(test::slots(RingPlan(problem, request))[1], (std::vector<int>{14, 6, 4}));
  request.depth = 2;
  EXPECT_EQ(test::slots(RingPlan(problem, request))[1], (std::vector<int>{15, 7, 5}));
  request.processes = 1;
  EXPECT_EQ(RingPlan(problem, request).setup(0).slots, (std::vector<int>{50 + 1 + 4 - 10 + 5 + 2, 7}));
  EXPECT_TRUE(RingPlan(problem, request).setup(0).one_process);
}

TEST(RingPlan, ARingHasNoUseForMoreSlotsThanSlices) {
  PlanRequest request;
  request.steps = 100;
  request.processes = 2;
  request.workers = 3;
  const RingPlan plan(test::problem(2, false, {{1, 1}}), request);
  for (const auto& rings : test::slots(plan)) EXPECT_EQ(rings, (std::vector<int>{2, 2, 2, 2}));
}

TEST(RingPlan, RefusesTooFewSlotsAndSaysHowManyAreNeeded) {
  PlanRequest request;
  request.steps = 100;
  request.processes = 2;
  request.workers = 3;
  request.slots = SlotChoice::given;
  request.slots_per_ring = 4;
  EXPECT_THROW(RingPlan(test::problem(40, false, {{1, 1}}), request), PlanRefused);
  EXPECT_NE(refusal(test::problem(40, false, {{1, 1}}), request).find("set slots = 7 or more"), std::string::npos);
  EXPECT_NE(refusal(test::problem(9, false, {{1, 1}}), request).find("need 5 in one ring; set slots = 5"),
            std::string::npos)
      << refusal(test::problem(9, false, {{1, 1}}), request);
  request.slots_per_ring = 7;
  EXPECT_EQ(RingPlan(test::problem(40, false, {{1, 1}}), request).slots_in_all(), 7 * 8);
}

TEST(RingPlan, RefusesADelayThatWouldWait) {
  Problem problem = test::problem(40, false, {{1, 0}, {0, 0}, {1, 0}});
  const Observable o = problem.observable("largest", ReduceOp::max);
  problem.kinds[1].observes(o);
  problem.kinds[2].feeds_back(o);
  PlanRequest request;
  request.steps = 100;
  request.processes = 5;
  request.workers = 3;
  request.feedback_delay = 4;  // 15 positions: 3 D + 2 - 1 >= 15 from D = 5 on
  const std::string text = refusal(problem, request);
  EXPECT_NE(text.find("kind 'kind2'"), std::string::npos) << text;
  EXPECT_NE(text.find("'largest'"), std::string::npos) << text;
  EXPECT_NE(text.find("set feedback_delay = 5 or more"), std::string::npos) << text;
  request.feedback_delay = 5;
  EXPECT_EQ(refusal(problem, request), "not refused");
}

Problem with_everything() {
  Problem p;
  p.slabs = 20;
  p.periodic = true;
  p.elements = 2'000'000;
  p.element_name = "molecules";
  const auto position = p.layout.list<float>("position", 1000);
  const auto velocity = p.layout.list<double>("velocity", 1000);
  p.layout.side_list<int>("neighbours", 5000);
  p.snapshot.list<float>("shown", 100);
  p.kinds = {Kind("push", 1, 0).reads(velocity), Kind("move", 1, 2).contributes(position, 10).contributes(velocity)};
  p.scratch_bytes = 1000;
  return p;
}

TEST(RingPlan, CountsEveryByte) {
  PlanRequest request;
  request.steps = 10;
  request.processes = 2;
  request.workers = 3;
  request.depth = 2;
  request.snapshot_buffers = 4;
  request.staging_slices = 2;
  const RingPlan plan(with_everything(), request);
  const int slots = plan.slots_of(0);
  EXPECT_EQ(plan.buffers(0, 0), slots);
  EXPECT_EQ(plan.buffers(0, 2), plan.slots(0, 1) + plan.slots(0, 2));
  // Six positions, two kinds: every other position contributes. Regions: own 4000 and 8000 bytes, for the others 4 of
  // 40 and 4 of 8000.
  EXPECT_EQ(plan.region_sets(0, 0), 0);
  EXPECT_EQ(plan.region_sets(0, 1), 5);
  EXPECT_EQ(plan.region_sets(1, 2), 5);
  const std::size_t set = 2 * (4032 + 4 * 64 + 5 * 8000);
  EXPECT_EQ(plan.region_set_bytes(0, 1), set);

  std::size_t expected =
      static_cast<std::size_t>(slots) * 2 * (4032 + 8000) + static_cast<std::size_t>(plan.buffers(0, 2)) * 2 * 20032;
  expected += 5 * set + 3 * 1024 + 4 * 2 * 448;
  EXPECT_EQ(plan.bytes(0), expected);
  EXPECT_EQ(plan.wire_bytes(), sizeof(SliceHeader) + 2 * (4000 + 8000));
  std::size_t pinned = 0;
  for (const MemoryRow& row : plan.memory(0)) pinned += row.pinned_host ? row.bytes() : 0;
  EXPECT_EQ(pinned, 2 * plan.wire_bytes());

  request.memory = plan.bytes(plan.largest_process());
  EXPECT_EQ(refusal(with_everything(), request), "not refused");
  --*request.memory;
  const std::string text = refusal(with_everything(), request);
  EXPECT_NE(text.find("needs"), std::string::npos);
  EXPECT_NE(text.find("use more processes, fewer workers"), std::string::npos) << text;
  EXPECT_NE(text.find("contributions"), std::string::npos) << text;
}

TEST(RingPlan, SideFieldsThatAreMadeAnewNeedABufferAStageUnderWay) {
  Problem problem = with_everything();
  PlanRequest request;
  request.steps = 10;
  request.workers = 1;
  request.depth = 2;
  EXPECT_EQ(RingPlan(problem, request).buffers(0, 2), 2);
  request.workers = 2;
  const int between = RingPlan(problem, request).slots(0, 1);
  EXPECT_EQ(RingPlan(problem, request).buffers(0, 2), between);
  problem.side_every = 5;
  EXPECT_EQ(RingPlan(problem, request).buffers(0, 2), between + 2);
}

TEST(RingPlan, StagesFollowFromRates) {
  PlanRequest request;
  request.steps = 60;
  request.processes = 2;
  request.workers = 3;
  const RingPlan assumed(with_everything(), request);
  EXPECT_DOUBLE_EQ(assumed.stage_work_seconds(), 3 * 200'000 / 1e8);
  EXPECT_DOUBLE_EQ(assumed.stage_link_seconds(), static_cast<double>(assumed.wire_bytes()) / 1e10);
  EXPECT_NE(assumed.text().find("assumed ([plan] rate is not set): 100 M molecules"), std::string::npos)
      << assumed.text();
  request.rate = 2e6;
  request.bandwidth = 1e5;
  const RingPlan plan(with_everything(), request);
  EXPECT_DOUBLE_EQ(plan.stage_work_seconds(), 0.3);
  EXPECT_DOUBLE_EQ(plan.stage_seconds(), plan.stage_work_seconds());
  EXPECT_EQ(plan.text().find("assumed"), std::string::npos) << plan.text();
  // Two processes, (1 + 0 + 1 + 2) / 2 x 3 + 2 slices apart, keep 10 / 16 of the time: 16 stages a super-cycle. Less a
  // third in the turn of every second one, which ends with a worker that hands velocities on.
  const double lag = 8 - 1.0 / 3 / 2;
  EXPECT_DOUBLE_EQ(plan.fill_seconds(), lag * 0.3);
  EXPECT_DOUBLE_EQ(plan.run_seconds(), 20 * 2 * lag * 0.3 + plan.fill_seconds());
  EXPECT_NE(plan.text().find("bottleneck: the number of slices, then the workers"), std::string::npos) << plan.text();
  // One step more is one super-cycle more, of two sub-steps for the first process.
  request.steps = 61;
  EXPECT_DOUBLE_EQ(RingPlan(with_everything(), request).run_seconds(),
                   plan.run_seconds() + 2 * lag * std::max(0.2, plan.stage_link_seconds()));
  request.bandwidth = 1e4;
  EXPECT_NE(RingPlan(with_everything(), request).text().find("then the link"), std::string::npos);
  Problem unknown = with_everything();
  unknown.elements = 0;
  EXPECT_EQ(RingPlan(unknown, request).stage_seconds(), 0);
  EXPECT_NE(RingPlan(unknown, request).text().find("not known"), std::string::npos);
}

TEST(RingPlan, WorkersThatHaveNothingToDoTakeNoTime) {
  PlanRequest request;
  request.steps = 10;
  request.workers = 300;
  request.rate = 1e6;
  const Problem problem = with_everything();
  const RingPlan plan(problem, request);
  const double substeps = static_cast<double>(plan.schedule().substeps());
  EXPECT_NEAR(plan.run_seconds(), substeps * static_cast<double>(problem.elements) / 1e6, 1e-9 * plan.run_seconds());
}

TEST(RingPlan, AProblemMayKnowTheRateOfACore) {
  PlanRequest request;
  request.steps = 60;
  Problem problem = with_everything();
  problem.core_rate = 5e6;
  EXPECT_EQ(RingPlan(problem, request).rate(), RingPlan::assumed_rate) << "not on host threads";
  request.cores = 4;
  EXPECT_EQ(RingPlan(problem, request).rate(), 2e7);
  request.rate = 3e6;
  EXPECT_EQ(RingPlan(problem, request).rate(), 3e6);
}

TEST(RingPlan, SlowButRightIsAWarningWithTheEfficiency) {
  PlanRequest request;
  request.steps = 100;
  request.processes = 5;
  request.workers = 2;
  const RingPlan few(test::problem(8, false, {{1, 1}}), request);
  ASSERT_EQ(few.warnings().size(), 1U);
  EXPECT_EQ(few.warnings()[0], "more workers than slices: 10 workers share 8 slices; expected efficiency 27 %");
  const RingPlan more(test::problem(20, false, {{1, 1}}), request);
  ASSERT_EQ(more.warnings().size(), 1U);
  EXPECT_NE(more.warnings()[0].find("20 slices keep 3.33 of 5 processes with 2 workers busy"), std::string::npos)
      << more.warnings()[0];
  EXPECT_NE(more.warnings()[0].find("67 %"), std::string::npos);
  EXPECT_NE(more.text().find("warning"), std::string::npos);
  request.processes = 100;
  const RingPlan nearly(test::problem(599, false, {{1, 1}}), request);
  EXPECT_NE(nearly.warnings().at(0).find("efficiency above 99 %"), std::string::npos) << nearly.warnings()[0];
  request.processes = 5;
  EXPECT_TRUE(RingPlan(test::problem(30, false, {{1, 1}}), request).warnings().empty());
}

TEST(RingPlan, MoreWorkersThanSlicesInOneProcessLoseNoTime) {
  PlanRequest request;
  request.steps = 100;
  request.workers = 40;
  const RingPlan turns(test::problem(8, false, {{1, 1}}), request);
  EXPECT_EQ(turns.efficiency(), 1);
  EXPECT_TRUE(turns.warnings().empty()) << turns.warnings()[0];
  request.at_once = true;
  const RingPlan at_once(test::problem(8, false, {{1, 1}}), request);
  ASSERT_EQ(at_once.warnings().size(), 1U);
  EXPECT_EQ(at_once.warnings()[0], "more workers than slices: 40 workers share 8 slices; expected efficiency 6.7 %");
}

TEST(RingPlan, TextNamesWhatAUserAsksFor) {
  PlanRequest request;
  request.steps = 100;
  request.processes = 3;
  request.workers = 2;
  request.memory = std::size_t{1} << 30;
  const std::string text = RingPlan(with_everything(), request).text();
  for (const char* part :
       {"3 processes x 2 workers = 6 positions", "10 (20 slabs, two a slice: folded)", "push 1/0, move 1/2", "slots",
        "processes 0..2: ", "field position", "side field neighbours", "contributions", "of 1 GiB available", "N_max",
        "take turns", "efficiency", "stage", "bottleneck", "fill"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
}

TEST(RingPlan, TenThousandProcessesArePlannedInNoTime) {
  PlanRequest request;
  request.steps = 1'000'000;
  request.processes = 9'999;  // each third one has the same kinds
  request.workers = 2;
  const RingPlan plan(test::problem(500'000, true, {{1, 0}, {2, 1}, {0, 0}}, Order{1, 0}), request);
  EXPECT_EQ(plan.slots_in_all() - 3 * 9'999, plan.slots_needed_in_all());
  EXPECT_NE(plan.text().find("more groups"), std::string::npos) << plan.text();
  EXPECT_LT(plan.text().size(), 4000U);
}

TEST(RingPlan, RefusesImpossibleRequests) {
  const Problem problem = test::problem(10, false, {{1, 1}});
  const auto with = [&](auto change) {
    PlanRequest request;
    change(request);
    return refusal(problem, request);
  };
  EXPECT_NE(with([](PlanRequest& r) { r.processes = 0; }).find("0 processes"), std::string::npos);
  EXPECT_NE(with([](PlanRequest& r) { r.workers = 0; }).find("workers = 0"), std::string::npos);
  EXPECT_NE(with([](PlanRequest& r) { r.steps = -1; }).find("steps = -1"), std::string::npos);
  EXPECT_NE(with([](PlanRequest& r) { r.depth = 0; }).find("under way"), std::string::npos);
  EXPECT_NE(with([](PlanRequest& r) { r.feedback_delay = 0; }).find("feedback_delay = 0"), std::string::npos);
  EXPECT_NE(with([](PlanRequest& r) { r.processes = r.workers = 100'000; }).find("more than"), std::string::npos);
  EXPECT_NE(with([](PlanRequest& r) { r.slots = SlotChoice::given; }).find("slots = 0"), std::string::npos);
  Problem wrong = problem;
  wrong.slabs = 0;
  EXPECT_NE(refusal(wrong, {}).find("0 slabs"), std::string::npos);
}

}  // namespace
