#include "dsea/device/for_each.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/devices.hpp"

namespace dsea::test {

struct CountVisits {
  std::int32_t* visits;
  DSEA_FN void operator()(std::int64_t i) const { visits[i] += 1; }
};

struct CountVisitsFinely {
  static constexpr std::int64_t grain = 1;
  std::int32_t* visits;
  DSEA_FN void operator()(std::int64_t i) const { visits[i] += 1; }
};

struct SetCount {
  std::int64_t* count;
  std::int64_t value;
  DSEA_FN void operator()(std::int64_t) const { *count = value; }
};

struct Square {
  const double* x;
  double* y;
  DSEA_FN void operator()(std::int64_t i) const { y[i] = x[i] * x[i] + 1.0; }
};

namespace {

class ForEachTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, ForEachTest, testing::ValuesIn(all_devices()), case_name);

const std::vector<std::int64_t> sizes = {0, 1, 2, 3, 255, 256, 257, 511, 1023, 1024, 1025, 1027, 5000, 100001};

/// n ones, then zeros.
std::vector<std::int32_t> ones(std::int64_t n, std::size_t all) {
  std::vector<std::int32_t> values(all, 0);
  std::fill_n(values.begin(), n, 1);
  return values;
}

TEST_P(ForEachTest, VisitsEachIndexOnce) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  for (const std::int64_t n : sizes) {
    const std::size_t all = static_cast<std::size_t>(n) + 10;
    const Buffer visits(device, 2 * all * sizeof(std::int32_t), Memory::device);
    auto* const v = visits.as<std::int32_t>();
    for_each(stream, n, CountVisits{v});
    for_each(stream, n, CountVisitsFinely{v + all});
    EXPECT_EQ(from_device(stream, v, all), ones(n, all)) << n;
    EXPECT_EQ(from_device(stream, v + all, all), ones(n, all)) << n;
  }
}

TEST_P(ForEachTest, TakesAnyIntegerAndNothingBelowZero) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  const Buffer visits(device, 16 * sizeof(std::int32_t), Memory::device);
  auto* const v = visits.as<std::int32_t>();
  for_each(stream, -5, CountVisits{v});
  for_each(stream, std::size_t{3}, CountVisits{v});
  for_each(stream, 0u, CountVisits{v});
  EXPECT_EQ(from_device(stream, v, 16), ones(3, 16));
}

TEST_P(ForEachTest, ReadsTheCountWhenItRuns) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  const Buffer count(device, sizeof(std::int64_t), Memory::device);
  auto* const live = count.as<std::int64_t>();
  constexpr std::int64_t bound = 3000;
  for (const std::int64_t n : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{1300}, bound, bound + 1,
                               std::int64_t{1} << 40}) {
    const Buffer visits(device, 4000 * sizeof(std::int32_t), Memory::device);
    auto* const v = visits.as<std::int32_t>();
    for_each(stream, 1, SetCount{live, n});  // not known to the host when the next kernel is queued
    for_each(stream, {live, bound}, CountVisits{v});
    for_each(stream, 1, SetCount{live, 77});
    EXPECT_EQ(from_device(stream, v, 4000), ones(std::clamp<std::int64_t>(n, 0, bound), 4000)) << n;
  }
}

TEST_P(ForEachTest, RunsInStreamOrder) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  constexpr std::int64_t n = 3000;
  const std::vector<double> start(static_cast<std::size_t>(n), 0.5);
  const Buffer a = to_device(stream, start);
  const Buffer b(device, n * sizeof(double), Memory::device);
  for_each(stream, n, Square{a.as<double>(), b.as<double>()});
  for_each(stream, n, Square{b.as<double>(), a.as<double>()});
  for_each(stream, n, Square{a.as<double>(), b.as<double>()});
  const std::vector<double> expected(static_cast<std::size_t>(n), 7.56640625);  // ((0.25 + 1)^2 + 1)^2 + 1
  EXPECT_EQ(from_device(stream, b.as<double>(), static_cast<std::size_t>(n)), expected);
}

}  // namespace
}  // namespace dsea::test
