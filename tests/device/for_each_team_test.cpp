#include "dsea/device/for_each_team.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "device/devices.hpp"

namespace dsea::test {

/// Each lane passes what it has to the next one, phase by phase; in the end each lane has its own number again.
struct PassAround {
  static constexpr int phases = 5;
  std::int64_t* out;
  DSEA_FN void operator()(const Team& team, int phase, int lane) const {
    auto* const now = team.scratch<std::int64_t>(phase % 2 == 0 ? 0 : 4096);
    auto* const before = team.scratch<std::int64_t>(phase % 2 == 0 ? 4096 : 0);
    if (phase == 0) now[lane] = 1000 * team.index + lane;
    if (phase == 1 || phase == 2) now[lane] = before[(lane + 1) % team.size];
    if (phase == 3) now[lane] = before[(lane + team.size - 2 % team.size) % team.size];
    if (phase == 4) out[team.index * team.size + lane] += before[lane];
  }
};

struct FoldTeam {
  static constexpr int phases = 3;
  static constexpr std::int64_t grain = 1;
  const double* x;
  double* sums;
  int n;
  DSEA_FN void operator()(const Team& team, int phase, int lane) const {
    double* const s = team.scratch<double>();
    if (phase == 0) {
      for (int j = lane; j < n; j += team.size) s[j] = x[team.index * n + j];
    }
    if (phase == 1) team.sum(s, n, lane);
    if (phase == 2 && lane == 0) sums[team.index] = s[0];
  }
};

struct MinMaxTeam {
  static constexpr int phases = 3;
  const double* x;
  double* result;
  DSEA_FN void operator()(const Team& team, int phase, int lane) const {
    double* const low = team.scratch<double>();
    double* const high = team.scratch<double>(static_cast<std::size_t>(team.size) * sizeof(double));
    if (phase == 0) low[lane] = high[lane] = x[lane];
    if (phase == 1) {
      team.fold(low, team.size, lane, Minimum{});
      team.fold(high, team.size, lane, Maximum{});
    }
    if (phase == 2 && lane == team.size - 1) {
      result[0] = low[0];
      result[1] = high[0];
    }
  }
};

/// Uses the largest scratch there is.
struct FillScratch {
  static constexpr int phases = 2;
  std::int32_t* bad;
  DSEA_FN void operator()(const Team& team, int phase, int lane) const {
    auto* const s = team.scratch<std::int32_t>();
    const int n = static_cast<int>(max_team_scratch_bytes / sizeof(std::int32_t));
    for (int j = lane; j < n; j += team.size) {
      if (phase == 0) s[j] = static_cast<std::int32_t>(team.index) + j;
      if (phase == 1 && s[n - 1 - j] != static_cast<std::int32_t>(team.index) + n - 1 - j) bad[team.index] = 1;
    }
  }
};

struct CountTeams {
  static constexpr int phases = 1;
  std::int32_t* visits;
  DSEA_FN void operator()(const Team& team, int, int lane) const { visits[team.index * team.size + lane] += 1; }
};

namespace {

class ForEachTeamTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, ForEachTeamTest, testing::ValuesIn(all_devices()), case_name);

TEST_P(ForEachTeamTest, PhasesSeeWhatEarlierPhasesWrote) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  for (const int size : {1, 2, 3, 31, 32, 33, 64, 100, 256, 512}) {
    for (const std::int64_t teams : {0, 1, 2, 40}) {
      const std::size_t all = static_cast<std::size_t>(teams * size) + 5;
      const Buffer out(device, all * sizeof(std::int64_t), Memory::device);
      for_each_team(stream, teams, size, 8192, PassAround{out.as<std::int64_t>()});
      std::vector<std::int64_t> expected(all, 0);
      for (std::int64_t i = 0; i < teams * size; ++i) {
        expected[static_cast<std::size_t>(i)] = 1000 * (i / size) + i % size;
      }
      EXPECT_EQ(from_device(stream, out.as<std::int64_t>(), all), expected) << teams << " teams of " << size;
    }
  }
}

/// The documented order: fold the upper half on the lower one, halves by powers of two.
double fold_by_hand(std::vector<double> values) {
  std::size_t half = 1;
  while (2 * half < values.size()) half *= 2;
  for (; half >= 1; half /= 2) {
    for (std::size_t j = half; j < values.size(); ++j) values[j - half] += values[j];
    if (values.size() > half) values.resize(half);
  }
  return values[0];
}

TEST_P(ForEachTeamTest, SumsInTheDocumentedOrder) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  for (const int size : {1, 5, 32, 128}) {
    for (const int n : {1, 2, 3, 4, 5, 31, 32, 33, 100, 128, 129, 777}) {
      constexpr std::int64_t teams = 3;
      std::vector<double> x(static_cast<std::size_t>(teams * n)), expected;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / (1.0 + static_cast<double>(i * i % 1013));
      for (std::int64_t t = 0; t < teams; ++t) {
        expected.push_back(fold_by_hand({x.begin() + t * n, x.begin() + (t + 1) * n}));
      }
      const Buffer in = to_device(stream, x), sums(device, teams * sizeof(double), Memory::device);
      for_each_team(stream, teams, size, static_cast<std::size_t>(n) * sizeof(double),
                    FoldTeam{in.as<double>(), sums.as<double>(), n});
      EXPECT_EQ(from_device(stream, sums.as<double>(), teams), expected) << n << " numbers, " << size << " lanes";
    }
  }
}

TEST_P(ForEachTeamTest, FindsMinimumAndMaximum) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  std::vector<double> x(77);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((i * 31) % 77) - 40.0;
  const Buffer in = to_device(stream, x), result(device, 16, Memory::device);
  for_each_team(stream, 1, 77, 2 * 77 * sizeof(double), MinMaxTeam{in.as<double>(), result.as<double>()});
  EXPECT_EQ(from_device(stream, result.as<double>(), 2), (std::vector<double>{-40.0, 36.0}));
}

TEST_P(ForEachTeamTest, HasAllTheScratchItPromises) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  const Buffer bad(device, 50 * sizeof(std::int32_t), Memory::device);
  for_each_team(stream, 50, 64, max_team_scratch_bytes, FillScratch{bad.as<std::int32_t>()});
  EXPECT_EQ(from_device(stream, bad.as<std::int32_t>(), 50), std::vector<std::int32_t>(50, 0));
}

TEST_P(ForEachTeamTest, TakesALiveCount) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  for (const std::int64_t live : {-3, 0, 1, 33, 100, 101}) {
    const Buffer count = to_device(stream, std::vector<std::int64_t>{live});
    const Buffer visits(device, 8 * 110 * sizeof(std::int32_t), Memory::device);
    for_each_team(stream, {count.as<std::int64_t>(), 100}, 8, 0, CountTeams{visits.as<std::int32_t>()});
    std::vector<std::int32_t> expected(8 * 110, 0);
    for (std::int64_t i = 0; i < 8 * std::min<std::int64_t>(live, 100); ++i) expected[static_cast<std::size_t>(i)] = 1;
    EXPECT_EQ(from_device(stream, visits.as<std::int32_t>(), expected.size()), expected) << live;
  }
}

TEST_P(ForEachTeamTest, RefusesWhatNoGpuOffers) {
  Stream stream(GetParam().open(), "test");
  EXPECT_THROW(for_each_team(stream, 1, 0, 0, CountTeams{nullptr}), RunError);
  EXPECT_THROW(for_each_team(stream, 1, max_team_size + 1, 0, CountTeams{nullptr}), RunError);
  const std::string text =
      message_of<RunError>([&] { for_each_team(stream, 1, 32, max_team_scratch_bytes + 1, CountTeams{nullptr}); });
  EXPECT_TRUE(contains(text, "49153")) << text;
}

}  // namespace
}  // namespace dsea::test
