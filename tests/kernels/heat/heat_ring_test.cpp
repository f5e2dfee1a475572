// Heat in the ring: bit for bit a plain sweep, whatever the ranks, workers, slots, threads, streams, instruction set.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/heat/box.hpp"
#include "support/pairwise.hpp"

using heat_test::Box;

namespace {

/// The same arithmetic by three plain loops.
std::vector<double> sweep(const Box& box) {
  const heat::Start start(dsea::Config::from_text(box.toml()));
  std::vector<double> T(box.cells()), next(box.cells());
  for (int i = 0; i < box.nx; ++i) {
    for (int j = 0; j < box.ny; ++j) {
      for (int k = 0; k < box.nz; ++k) T[box.at(i, j, k)] = start.at(i, j, k);
    }
  }
  const double limit = box.dx * box.dx / (6 * box.diffusivity);
  const double r = box.dt / limit / 6;
  const auto step = [](int i, int d, int n, bool periodic) {
    if (periodic) return (i + d + n) % n;
    return i + d < 0 || i + d >= n ? i : i + d;
  };
  for (std::int64_t t = 0; t < box.steps; ++t) {
    for (int i = 0; i < box.nx; ++i) {
      const int il = step(i, -1, box.nx, box.periodic[0]), ir = step(i, 1, box.nx, box.periodic[0]);
      for (int j = 0; j < box.ny; ++j) {
        const int jl = step(j, -1, box.ny, box.periodic[1]), jr = step(j, 1, box.ny, box.periodic[1]);
        for (int k = 0; k < box.nz; ++k) {
          const int kl = step(k, -1, box.nz, box.periodic[2]), kr = step(k, 1, box.nz, box.periodic[2]);
          const double here = T[box.at(i, j, k)];
          const double sum = (T[box.at(il, j, k)] + T[box.at(ir, j, k)]) + (T[box.at(i, j, kl)] + T[box.at(i, j, kr)]) +
                             (T[box.at(i, jl, k)] + T[box.at(i, jr, k)]);
          next[box.at(i, j, k)] = here + r * (sum - 6.0 * here);
        }
      }
    }
    std::swap(T, next);
  }
  return T;
}

struct Setting {
  int ranks, workers, threads, streams, slots;
  dsea::Isa isa;
};

std::vector<Setting> cover() {
  std::vector<Setting> result;
  const int instruction_sets = dsea::best_isa() == dsea::Isa::baseline ? 1 : 2;
  for (const auto& s : dsea::test::pairwise({5, 8, 2, 3, 3, instruction_sets}, 2)) {
    result.push_back({s[0] + 1, s[1] + 1, s[2] + 1, s[3], s[4], s[5] == 0 ? dsea::Isa::baseline : dsea::best_isa()});
  }
  return result;
}

heat_test::Result run(const Box& box, const Setting& s) {
  dsea::DeviceOptions device;
  device.backend = "host";
  device.threads = s.threads;
  device.isa = s.isa;
  const char* slots[] = {"\"auto\"", "\"fewest\"", "40"};
  return heat_test::run(
      box, s.ranks, s.workers, 0, device,
      dsea::cat("ring.slots = ", slots[s.slots], "\nring.async_streams = ", s.streams > 0 ? "true" : "false",
                "\nring.delay_seed = ", s.streams > 1 ? 3 : 0, "\n"));
}

class HeatRing : public testing::TestWithParam<int> {};

TEST_P(HeatRing, IsAPlainSweepHoweverTheRingIsCut) {
  const auto settings = cover();
  ASSERT_GE(settings.size(), 40U);
  for (const bool periodic : {true, false}) {
    // Rows of 200 cells: vectors of every instruction set, and two threads share a plane.
    Box box{.nx = GetParam(), .ny = 200, .nz = 90, .periodic = {periodic, true, false}, .steps = 13};
    const std::vector<double> expected = sweep(box);
    std::uint64_t digest = 0;
    for (std::size_t i = periodic ? 0 : 1; i < settings.size(); i += 2) {
      const Setting& s = settings[i];
      const auto result = run(box, s);
      if (digest == 0) digest = result.outcome.digest();
      ASSERT_EQ(result.outcome.digest(), digest)
          << "ranks " << s.ranks << " workers " << s.workers << " threads " << s.threads << " streams " << s.streams
          << " slots " << s.slots << " isa " << dsea::isa_name(s.isa);
      ASSERT_TRUE(result.snapshots.at(box.steps) == expected);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Planes, HeatRing, testing::Values(1, 2, 3, 12, 17));

TEST(HeatRing, ADifferentBitGivesADifferentDigest) {
  Box box{.nx = 3, .ny = 4, .nz = 5};
  const auto seed = [&](int s) {
    return heat_test::run(box, 1, 1, 0, {}, dsea::cat("run.seed = ", s, "\n")).outcome.digest();
  };
  EXPECT_EQ(seed(1), seed(1));
  EXPECT_NE(seed(1), seed(2));
}

}  // namespace
