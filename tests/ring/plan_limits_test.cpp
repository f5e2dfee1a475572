// What a plan says of its limits: which of slices, workers and links it is, at what rate, and in which words.
#include <gtest/gtest.h>

#include "dsea/ring/ring_plan.hpp"
#include "ring/plan_helpers.hpp"

namespace {

using namespace dsea;

/// A billion molecules at density 0.30 on GPUs of 3.4e8 molecule steps/s.
RingPlan billion(int processes, int workers, double bandwidth = 1e12) {
  Problem problem = test::problem(597, false, {{1, 1}});
  problem.elements = 1'000'000'000;
  problem.element_name = "molecules";
  PlanRequest request;
  request.steps = 5000;
  request.processes = processes;
  request.workers = workers;
  request.rate = 3.4e8;
  request.bandwidth = bandwidth;
  return {problem, request};
}

TEST(PlanLimits, SaysWhatLimits149And1000And10000Gpus) {
  const RingPlan busy = billion(149, 1);
  EXPECT_EQ(busy.limit(), Limit::work);
  EXPECT_NEAR(busy.steady_rate(), 5.1e10, 0.05e10) << "the paper's number";
  EXPECT_NE(busy.text().find("the workers, which are always busy"), std::string::npos) << busy.text();
  EXPECT_NE(busy.text().find("up to 149.3 processes are worth it"), std::string::npos) << busy.text();
  for (const int gpus : {1000, 10'000}) {
    const RingPlan plan = billion(gpus, 1);
    EXPECT_EQ(plan.limit(), Limit::slices);
    EXPECT_NEAR(plan.steady_rate(), 597 / 4.0 * 3.4e8, 1e6) << "more GPUs are no faster";
    const std::string text = plan.text();
    EXPECT_NE(text.find("the number of slices: 597 keep 149.3 of " + std::to_string(gpus)), std::string::npos) << text;
    EXPECT_NE(text.find("149 would be about as fast"), std::string::npos) << text;
    EXPECT_EQ(text.find("too short") != std::string::npos, gpus == 10'000) << text;
  }
  EXPECT_NE(billion(1000, 2).text().find("so do fewer workers"), std::string::npos);
}

TEST(PlanLimits, ComparesNumbersOfWorkers) {
  const std::string text = billion(149, 2).text();
  EXPECT_NE(text.find("1    149.3        100 %"), std::string::npos) << text;
  EXPECT_NE(text.find("-> 2     99.5         67 %"), std::string::npos) << text;
  EXPECT_EQ(billion(1, 1).text().find("limited by"), std::string::npos) << "alone there is nothing to choose";
}

TEST(PlanLimits, SlowLinksAreTheLimitAndWorkersRelieveThem) {
  const double one = billion(8, 1).stage_work_seconds();
  const double bandwidth = static_cast<double>(billion(8, 1).wire_bytes()) / (1.5 * one);
  const RingPlan slow = billion(8, 1, bandwidth);
  EXPECT_EQ(slow.limit(), Limit::link);
  EXPECT_NEAR(slow.steady_rate(), 8 * 3.4e8 / 1.5, 1e3);
  EXPECT_NE(slow.text().find("the links: a slice takes"), std::string::npos) << slow.text();
  EXPECT_NE(slow.text().find("workers are busy 67 % of the time"), std::string::npos) << slow.text();
  EXPECT_EQ(billion(8, 2, bandwidth).limit(), Limit::work);
  EXPECT_NEAR(billion(8, 2, bandwidth).steady_rate(), 8 * 3.4e8, 1e3);
}

TEST(PlanLimits, CountsALinkAsSlowAsAStage) {
  const auto with_link = [](int workers, bool at_once, double stages) {
    Problem problem = test::problem(60, false, {{1, 1}});
    problem.elements = 60;
    PlanRequest request;
    request.processes = 4;
    request.workers = workers;
    request.at_once = at_once;
    request.rate = workers;  // a stage is a second
    request.bandwidth = static_cast<double>(RingPlan(problem, request).wire_bytes()) / stages;
    return RingPlan(problem, request);
  };
  for (const int workers : {1, 2, 3}) {
    for (const bool at_once : {false, true}) {
      const RingPlan even = with_link(workers, at_once, 1);
      EXPECT_DOUBLE_EQ(even.n_max_expected(), even.n_max());
      EXPECT_DOUBLE_EQ(even.lag_seconds(), even.scaling().lag());
      // A link that takes no time saves its stage; a slow one makes all stages longer.
      EXPECT_DOUBLE_EQ(with_link(workers, at_once, 0.25).lag_seconds(), even.scaling().lag() - 0.75);
      EXPECT_DOUBLE_EQ(with_link(workers, at_once, 3).lag_seconds(), even.scaling().lag() + 2 * (2 * workers + 1));
    }
  }
}

}  // namespace
