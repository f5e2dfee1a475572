#include "dsea/device/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/devices.hpp"

namespace dsea::test {

struct ReadValue {
  static constexpr std::int64_t grain = 1;
  const double* x;
  DSEA_FN double operator()(std::int64_t i) const { return x[i]; }
};

namespace {

class ReduceTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, ReduceTest, testing::ValuesIn(all_devices()), case_name);

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> numbers(std::int64_t n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  std::uint64_t bits = 12345;
  for (double& value : x) {
    bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-60;
  }
  return x;
}

/// One level of the documented order: 256 partial sums, strided, then folded.
double level_by_hand(const double* x, std::size_t n) {
  std::vector<double> partial(256, 0.0);
  for (std::size_t i = 0; i < n; ++i) partial[i % 256] += x[i];
  for (std::size_t half = 128; half >= 1; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) partial[j] += partial[j + half];
  }
  return partial[0];
}

double sum_by_hand(const std::vector<double>& x) {
  std::vector<double> blocks;
  for (std::size_t i = 0; i < x.size(); i += 1024) {
    blocks.push_back(level_by_hand(x.data() + i, std::min<std::size_t>(1024, x.size() - i)));
  }
  return level_by_hand(blocks.data(), blocks.size());
}

double reduced(Stream& stream, const std::vector<double>& x, ReduceOp op, std::int64_t slack = -1) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<double> padded = x;
  padded.resize(x.size() + 5000, std::numeric_limits<double>::quiet_NaN());  // would spoil the result if it were read
  const Buffer in = to_device(stream, padded);
  const Buffer live = to_device(stream, std::vector<std::int64_t>{n});
  const Count count = slack < 0 ? Count(n) : Count(live.as<std::int64_t>(), n + slack);
  const Buffer scratch(stream.device(), reduce_scratch_bytes(count.bound), Memory::device);
  const Buffer result = to_device(stream, std::vector<double>{-777.0});
  reduce(stream, count, ReadValue{in.as<double>()}, result.as<double>(), op, scratch.data());
  return from_device(stream, result.as<double>(), 1)[0];
}

TEST_P(ReduceTest, SumsInTheDocumentedOrderWhateverTheBound) {
  Stream stream(GetParam().open(), "test");
  for (const std::int64_t n : {0, 1, 2, 3, 255, 256, 257, 1023, 1024, 1025, 2048, 4000, 262144, 300001}) {
    const std::vector<double> x = numbers(n);
    const double expected = sum_by_hand(x);
    EXPECT_EQ(reduced(stream, x, ReduceOp::sum), expected) << n;
    EXPECT_EQ(reduced(stream, x, ReduceOp::sum, 0), expected) << n;
    EXPECT_EQ(reduced(stream, x, ReduceOp::sum, 4999), expected) << n;
  }
}

TEST_P(ReduceTest, FindsMinimumAndMaximum) {
  Stream stream(GetParam().open(), "test");
  for (const std::int64_t n : {1, 2, 700, 1024, 1025, 5000}) {
    const std::vector<double> x = numbers(n);
    EXPECT_EQ(reduced(stream, x, ReduceOp::min, 3), *std::ranges::min_element(x)) << n;
    EXPECT_EQ(reduced(stream, x, ReduceOp::max, 3), *std::ranges::max_element(x)) << n;
  }
}

TEST_P(ReduceTest, OfNothingIsTheIdentity) {
  Stream stream(GetParam().open(), "test");
  for (const std::int64_t slack : {-1, 0, 2000}) {
    EXPECT_EQ(reduced(stream, {}, ReduceOp::sum, slack), 0.0);
    EXPECT_EQ(reduced(stream, {}, ReduceOp::min, slack), infinity);
    EXPECT_EQ(reduced(stream, {}, ReduceOp::max, slack), -infinity);
  }
}

TEST_P(ReduceTest, KeepsNan) {
  Stream stream(GetParam().open(), "test");
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{1500}, std::size_t{2999}}) {
    std::vector<double> x = numbers(3000);
    x[place] = std::numeric_limits<double>::quiet_NaN();
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
      EXPECT_TRUE(std::isnan(reduced(stream, x, op))) << place;
    }
  }
}

}  // namespace
}  // namespace dsea::test
