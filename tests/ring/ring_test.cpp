// Rings with threads: the digest is that of a plain sweep whatever the ranks, workers, slots, threads, streams and delays.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <sstream>

#include "dsea/base/log.hpp"
#include "dsea/ring/ring.hpp"
#include "ring/synthetic.hpp"

namespace {

using synthetic::Program;
using synthetic::Shape;

struct Setting {
  int ranks = 1;
  int workers = 1;
  std::string slots = "auto";  // "auto", "fewest", a number
  int threads = 1;
  int streams = 0;             // 0: in the caller, 1: async, 2: async with delays
  int depth = 1;
  std::int64_t steps = 7;
};

std::string toml(const Shape& shape, const Setting& s) {
  const std::string slots = s.slots == "auto" || s.slots == "fewest" ? "\"" + s.slots + "\"" : s.slots;
  return dsea::cat(shape.toml(), "[run]\nsteps = ", s.steps, "\nfeedback_delay = 40\n[ring]\nworkers = ", s.workers,
                   "\nslots = ", slots, "\ndepth = ", s.depth, "\nasync_streams = ", s.streams > 0 ? "true" : "false",
                   "\ndelay_seed = ", s.streams > 1 ? 7 : 0, "\nwatchdog = 20\n[output]\nthermo_every = 1\n");
}

dsea::RunOutcome run(const Shape& shape, const Setting& s) {
  dsea::DeviceOptions device;
  device.backend = "host";
  device.threads = s.threads;
  return dsea::run_local<Program>(dsea::Config::from_text(toml(shape, s)), s.ranks, device);
}

void expect_right(const Shape& shape, const Setting& s) {
  SCOPED_TRACE(toml(shape, s) + dsea::cat("ranks ", s.ranks));
  const synthetic::Sweep sweep(shape, s.steps, 40);
  const dsea::RunOutcome outcome = run(shape, s);
  EXPECT_EQ(outcome.digest(), sweep.digest());
  EXPECT_EQ(outcome.ring.step, s.steps);
  ASSERT_EQ(outcome.rows.size(), sweep.low.size());
  for (std::size_t i = 0; i < sweep.low.size(); ++i) {
    EXPECT_EQ(outcome.rows[i].step, static_cast<std::int64_t>(i));
    EXPECT_EQ(outcome.rows[i].columns, (std::vector<double>{sweep.low[i], static_cast<double>(shape.slabs)}));
  }
  // Every slice crossed every rank in every super-cycle.
  const std::int64_t slices = shape.periodic ? (shape.slabs + 1) / 2 : shape.slabs;
  const std::int64_t substeps = s.steps * static_cast<std::int64_t>(shape.in.size()) + (shape.finish ? 1 : 0);
  const std::int64_t positions = s.ranks * s.workers;
  const std::int64_t cycles = std::max<std::int64_t>(1, (substeps + positions - 1) / positions);
  for (const dsea::RankReport& r : outcome.ring.ranks) {
    EXPECT_EQ(r.stages, cycles * slices * s.workers);
    if (s.ranks > 1) {
      EXPECT_EQ(r.received, r.rank == 0 ? (cycles - 1) * slices : cycles * slices);
    }
  }
}

// A pairwise cover: each value of each setting meets each value of each other setting in some run.
std::vector<Setting> cover() {
  const std::vector<std::string> slots{"auto", "fewest", "40"};
  const std::array<int, 7> values{5, 8, 3, 2, 3, 3, 3};  // ranks, workers, slots, threads, streams, depth, steps
  const std::array<std::int64_t, 3> steps{1, 7, 20};
  std::vector<std::vector<std::vector<std::vector<bool>>>> met(
      7, std::vector<std::vector<std::vector<bool>>>(7, std::vector<std::vector<bool>>(8, std::vector<bool>(8))));
  std::mt19937 random(1);
  std::vector<Setting> all;
  for (;;) {
    std::array<int, 7> best{};
    int best_new = 0;
    for (int attempt = 0; attempt < 200; ++attempt) {
      std::array<int, 7> v{};
      for (std::size_t i = 0; i < 7; ++i) v[i] = static_cast<int>(random() % static_cast<unsigned>(values[i]));
      int fresh = 0;
      for (std::size_t i = 0; i < 7; ++i) {
        for (std::size_t j = i + 1; j < 7; ++j) fresh += !met[i][j][static_cast<std::size_t>(v[i])][static_cast<std::size_t>(v[j])];
      }
      if (fresh > best_new) best_new = fresh, best = v;
    }
    if (best_new == 0) return all;
    for (std::size_t i = 0; i < 7; ++i) {
      for (std::size_t j = i + 1; j < 7; ++j) met[i][j][static_cast<std::size_t>(best[i])][static_cast<std::size_t>(best[j])] = true;
    }
    Setting s;
    s.ranks = best[0] + 1;
    s.workers = best[1] + 1;
    s.slots = slots[static_cast<std::size_t>(best[2])];
    s.threads = best[3] + 1;
    s.streams = best[4];
    s.depth = best[5] + 1;
    s.steps = steps[static_cast<std::size_t>(best[6])];
    all.push_back(s);
  }
}

std::vector<Shape> shapes() {
  std::vector<Shape> all(7);
  all[0] = {.slabs = 9, .periodic = false, .in = {1}, .out = {0}};
  all[1] = {.slabs = 13, .periodic = true, .in = {1}, .out = {1}, .side = true};
  all[2] = {.slabs = 12, .periodic = false, .in = {2, 1, 1}, .out = {1, 0, 1}, .finish = true};
  all[3] = {.slabs = 1, .periodic = true, .in = {1}, .out = {1}};
  all[4] = {.slabs = 2, .periodic = true, .in = {2}, .out = {2}, .finish = false};
  all[5] = {.slabs = 17, .periodic = true, .in = {2, 4, 1}, .out = {1, 0, 1}, .side = true};
  all[6] = {.slabs = 5, .periodic = false, .in = {0, 3}, .out = {2, 0}, .finish = false};
  return all;
}

class RingCover : public testing::TestWithParam<int> {};

TEST_P(RingCover, DigestAndTableAreThoseOfASweep) {
  const Shape shape = shapes()[static_cast<std::size_t>(GetParam())];
  const auto settings = cover();
  ASSERT_GE(settings.size(), 40U);
  for (const Setting& s : settings) {
    expect_right(shape, s);
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, RingCover, testing::Range(0, 7));

TEST(Ring, DelayedMinimumReachesTheWorkers) {
  Shape shape{.slabs = 6, .periodic = true, .in = {1}, .out = {0}};
  shape.feedback = true;
  for (int ranks : {1, 2, 4}) {
    for (int workers : {1, 3, 10}) {
      Setting s{.ranks = ranks, .workers = workers, .streams = 2, .steps = 100};
      expect_right(shape, s);
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
