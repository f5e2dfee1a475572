// Rings with threads: the digest is that of a plain sweep whatever the ranks, workers, slots, threads, streams and
// delays.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "dsea/base/log.hpp"
#include "dsea/ring/ring.hpp"
#include "ring/settings.hpp"
#include "support/backend.hpp"

namespace {

using synthetic::Program;
using synthetic::Setting;
using synthetic::Shape;

std::string toml(const Shape& shape, const Setting& s) { return shape.toml() + s.toml(); }

dsea::RunOutcome run(const Shape& shape, const Setting& s, const std::vector<std::string>& sets = {}) {
  dsea::DeviceOptions device;
  device.backend = support::backend();
  device.threads = s.threads;
  return dsea::run_local<Program>(dsea::Config::from_text(toml(shape, s), "<test>", sets), s.ranks, device);
}

/// Returns how many slices some part went ahead of.
std::int64_t expect_right(const Shape& shape, const Setting& s) {
  SCOPED_TRACE(toml(shape, s) + dsea::cat("ranks ", s.ranks));
  const synthetic::Sweep sweep(shape, s.steps, 40);
  const dsea::RunOutcome outcome = run(shape, s);
  EXPECT_EQ(outcome.digest(), sweep.digest());
  EXPECT_EQ(outcome.ring.step, s.steps);
  EXPECT_EQ(outcome.rows.size(), sweep.low.size());
  for (std::size_t i = 0; i < std::min(sweep.low.size(), outcome.rows.size()); ++i) {
    EXPECT_EQ(outcome.rows[i].step, static_cast<std::int64_t>(i));
    EXPECT_EQ(outcome.rows[i].columns, (std::vector<double>{sweep.low[i], static_cast<double>(shape.slabs)}));
  }
  // Every slice crossed every rank in every super-cycle.
  const std::int64_t slices = shape.periodic ? (shape.slabs + 1) / 2 : shape.slabs;
  const std::int64_t substeps = s.steps * static_cast<std::int64_t>(shape.kinds_a_step()) + (shape.finish ? 1 : 0);
  const std::int64_t positions = s.ranks * s.workers;
  const std::int64_t cycles = std::max<std::int64_t>(1, (substeps + positions - 1) / positions);
  std::int64_t went_ahead = 0;
  for (const dsea::RankReport& r : outcome.ring.ranks) {
    EXPECT_LE(r.sent_ahead, r.sent);
    went_ahead += r.sent_ahead;
    EXPECT_EQ(r.stages, cycles * slices * s.workers);
    EXPECT_GE(r.phase_seconds[0], 0.0);
    EXPECT_LE(r.phase_seconds[0], r.kernel_seconds * (1 + 1e-9));  // a part of it
    if (s.ranks > 1) {
      EXPECT_EQ(r.received, r.rank == 0 ? (cycles - 1) * slices : cycles * slices);
    }
  }
  return went_ahead;
}

class RingCover : public testing::TestWithParam<int> {};

TEST_P(RingCover, DigestAndTableAreThoseOfASweep) {
  const Shape shape = synthetic::shapes()[static_cast<std::size_t>(GetParam())];
  const auto settings = synthetic::cover();
  ASSERT_GE(settings.size(), 40U);
  for (const Setting& s : settings) {
    expect_right(shape, s);
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, RingCover, testing::Range(0, 8));

TEST(Ring, DelayedMinimumReachesTheWorkers) {
  Shape one_step{.slabs = 6, .periodic = true, .in = {1}, .out = {0}};
  Shape two_steps{.slabs = 6, .periodic = true, .in = {1, 1, 0, 2}, .out = {0, 1, 0, 0}, .program_steps = 2};
  for (Shape shape : {one_step, two_steps}) {
    shape.feedback = true;
    for (int ranks : {1, 2, 4}) {
      for (int workers : {1, 3, 10}) {
        Setting s{.ranks = ranks, .workers = workers, .streams = 2, .steps = 101};
        expect_right(shape, s);
      }
    }
  }
}

/// One kind, which hands on a grid that it reads and a list that it does not look at; or two.
std::vector<Shape> keeping_shapes() {
  std::vector<Shape> shapes;
  for (const bool periodic : {false, true}) {
    for (const std::int64_t in : {0, 1, 2}) {
      for (const std::int64_t out : {0, 1, 2})
        shapes.push_back({.slabs = periodic ? 13 : 8, .periodic = periodic, .in = {in}, .out = {out}, .keep = true});
    }
  }
  shapes.push_back({.slabs = 9, .periodic = true, .in = {1, 0}, .out = {2, 0}, .keep = true});
  return shapes;
}

TEST(Ring, WhatGoesAheadOfItsSliceIsWhatTheSweepHas) {
  std::int64_t went_ahead = 0;
  int streams = 0;
  for (const Shape& shape : keeping_shapes()) {
    for (const int ranks : {1, 2, 3, 4, 5}) {
      const int workers = 1 + (streams + ranks) % 2;
      streams = (streams + 1) % 3;
      const Setting s{.ranks = ranks, .workers = workers, .streams = streams, .depth = 1 + streams, .steps = 20};
      const std::int64_t ahead = expect_right(shape, s);
      EXPECT_TRUE(ranks > 1 || ahead == 0) << "a ring of one rank sends nothing";
      went_ahead += ahead;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(went_ahead, 0);
}

TEST(Ring, WhatGoesAheadWaitsForTheWorkerThatMadeIt) {
  // The second worker hands on the grid that the first one makes, on another stream, which may be late.
  std::int64_t went_ahead = 0;
  for (const std::int64_t out : {0, 1}) {
    const Shape shape{.slabs = 12, .periodic = false, .in = {1, 1}, .out = {0, out}};
    for (const int ranks : {2, 3})
      went_ahead += expect_right(shape, {.ranks = ranks, .workers = 2, .streams = 2, .depth = 3, .steps = 40});
  }
  EXPECT_GT(went_ahead, 0);
}

TEST(Ring, FinalFieldsGoAheadWhileTheLastWorkerIsAtWork) {
  // A slice is complete as soon as its worker is done with it, so what goes ahead leaves while that works.
  for (const int workers : {1, 2}) {
    for (const int streams : {0, 1, 2}) {
      Shape shape{.slabs = 8, .periodic = false, .in = {1}, .out = {0}, .finish = false, .keep = true};
      const Setting s{.ranks = 2, .workers = workers, .streams = streams, .steps = 20};
      const auto went_ahead = [&] {
        const auto outcome = run(shape, s, {"synthetic.sleep_ms=1"});
        return outcome.ring.ranks[0].sent_ahead + outcome.ring.ranks[1].sent_ahead;
      };
      EXPECT_GT(went_ahead(), 0) << workers << " workers, streams " << streams;
      shape.keep = false;  // its kind writes everything
      EXPECT_EQ(went_ahead(), 0) << workers << " workers, streams " << streams;
    }
  }
}

TEST(Ring, TooShortAFeedbackDelayIsRefusedWithTheRightOne) {
  Shape shape{.slabs = 6, .periodic = false, .in = {1}, .out = {0}};
  shape.feedback = true;
  try {
    run(shape, {.ranks = 3, .workers = 14, .steps = 100});
    FAIL() << "a delay of 40 steps with 42 positions must be refused";
  } catch (const dsea::UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("42"), std::string::npos) << e.what();
  }
}

TEST(Ring, PhasesAreCounted) {
  Shape shape{.slabs = 6, .periodic = true, .in = {1}, .out = {1}};
  for (int streams : {0, 1}) {
    const auto outcome = run(shape, {.ranks = 2, .workers = 2, .streams = streams, .steps = 50});
    for (const dsea::RankReport& r : outcome.ring.ranks) EXPECT_GT(r.phase_seconds[0], 0.0);
  }
}

TEST(Ring, NoStepsAtAllGiveTheStart) {
  Shape shape{.slabs = 5, .periodic = true, .in = {1}, .out = {0}, .finish = false};
  for (int ranks : {1, 3}) expect_right(shape, {.ranks = ranks, .workers = 2, .steps = 0});
}

TEST(Ring, MoreWorkersAndRanksThanSlices) {
  Shape shape{.slabs = 2, .periodic = false, .in = {1}, .out = {1}};
  expect_right(shape, {.ranks = 5, .workers = 8, .steps = 50});
}

TEST(Ring, AnyFlippedBitOfTheStartChangesTheDigest) {
  Shape shape{.slabs = 6, .periodic = true, .in = {1}, .out = {0}};
  const Setting s{.ranks = 2, .workers = 2, .steps = 0};
  const auto right = run(shape, s).digest();
  for (int slab = 0; slab < 6; ++slab) {
    const std::string text = toml(shape, s);
    const std::string flip = dsea::cat("synthetic.flip=", slab);
    const std::vector<std::string> sets{flip};
    const auto flipped = dsea::run_local<Program>(dsea::Config::from_text(text, "<test>", sets), 2).digest();
    EXPECT_NE(flipped, right);
  }
}

TEST(Ring, AFailingWorkerEndsAllRanksAndSaysWhere) {
  Shape shape{.slabs = 6, .periodic = false, .in = {1}, .out = {0}};
  for (int ranks : {1, 2, 4}) {
    for (int streams : {0, 1}) {
      const std::string text = toml(shape, {.ranks = ranks, .workers = 2, .streams = streams, .steps = 20});
      const std::vector<std::string> sets{"synthetic.throw_at=5"};
      std::ostringstream log_text;
      const dsea::Log log(dsea::LogLevel::error, log_text);
      try {
        dsea::run_local<Program>(dsea::Config::from_text(text, "<test>", sets), ranks, {}, &log);
        FAIL();
      } catch (const dsea::RunError& e) {
        const std::string what = e.what();
        EXPECT_NE(what.find("made to fail"), std::string::npos) << what;
        EXPECT_NE(what.find("rank "), std::string::npos) << what;
        EXPECT_NE(what.find("main thread"), std::string::npos) << what;
        EXPECT_NE(what.find("slice 2"), std::string::npos) << what;
      }
      EXPECT_NE(log_text.str().find("made to fail"), std::string::npos);
    }
  }
}

}  // namespace
