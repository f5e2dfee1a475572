#include "dsea/device/for_each_row.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device/devices.hpp"

namespace dsea::test {

/// Adds 1 to an edge cell and 100 to an inner one.
template <int edge>
struct MarkCells {
  static constexpr int margin = edge;
  static constexpr std::int64_t grain = 1;
  std::int32_t* cells;
  std::int64_t columns;
  template <class Inner>
  DSEA_FN void operator()(std::int64_t row, std::int64_t column, Inner) const {
    cells[row * columns + column] += Inner::value ? 100 : 1;
  }
};

struct NumberCells {
  std::int64_t* cells;
  std::int64_t columns;
  DSEA_FN void operator()(std::int64_t row, std::int64_t column) const {
    cells[row * columns + column] += 1000 * row + column;
  }
};

/// Seven points, insulated ends; products and sums whose last bits a fused multiply-add would change.
struct Stencil {
  static constexpr int margin = 1;
  static constexpr std::int64_t grain = 1000;
  const double* below;
  const double* here;
  const double* above;
  double* to;
  std::int64_t rows, columns;
  double r;

  template <class Inner>
  DSEA_FN void operator()(std::int64_t row, std::int64_t column, Inner) const {
    const std::int64_t i = row * columns + column;
    const double centre = here[i];
    const double north = row > 0 ? here[i - columns] : centre;
    const double south = row + 1 < rows ? here[i + columns] : centre;
    const double west = Inner::value || column > 0 ? here[i - 1] : centre;
    const double east = Inner::value || column + 1 < columns ? here[i + 1] : centre;
    to[i] = centre + r * (1.3 * below[i] + 0.7 * above[i] + north * south + west * 1.1 + east / 3.0 - 6.0 * centre);
  }
};

struct Mixed {
  static constexpr std::int64_t grain = 1000;
  const double* x;
  const double* y;
  double* to;
  std::int64_t columns;
  DSEA_FN void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t i = row * columns + column;
    const double a = x[i] * y[i] + x[i];
    const double b = a < 0.5 ? a * a - y[i] : y[i] / (1.0 + a * a);
    to[i] = std::sqrt(a * a + b * b) - a * b * static_cast<double>(column % 7);
  }
};

namespace {

class ForEachRowTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, ForEachRowTest, testing::ValuesIn(all_devices()), case_name);

template <int margin>
void check_marks(Stream& stream, std::int64_t rows, std::int64_t columns) {
  const std::size_t all = static_cast<std::size_t>(rows * columns) + 20;
  const Buffer cells(stream.device(), all * sizeof(std::int32_t), Memory::device);
  auto* const c = cells.as<std::int32_t>();
  for_each_row(stream, rows, columns, MarkCells<margin>{c, columns});
  std::vector<std::int32_t> expected(all, 0);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const std::int64_t column = i % columns;
    expected[static_cast<std::size_t>(i)] = column >= margin && column < columns - margin ? 100 : 1;
  }
  EXPECT_EQ(from_device(stream, c, all), expected) << rows << " x " << columns << ", margin " << margin;
}

TEST_P(ForEachRowTest, VisitsEachCellOnceAndKnowsItsEdges) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  for (const std::int64_t rows : {0, 1, 2, 3, 7}) {
    for (const std::int64_t columns : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 130}) {
      check_marks<0>(stream, rows, columns);
      check_marks<1>(stream, rows, columns);
      check_marks<2>(stream, rows, columns);
      check_marks<4>(stream, rows, columns);
    }
  }
}

TEST_P(ForEachRowTest, PassesRowAndColumn) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  constexpr std::int64_t rows = 50, columns = 333;
  const Buffer cells(device, rows * columns * sizeof(std::int64_t), Memory::device);
  auto* const c = cells.as<std::int64_t>();
  for_each_row(stream, rows, columns, NumberCells{c, columns});
  const std::vector<std::int64_t> values = from_device(stream, c, rows * columns);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    ASSERT_EQ(values[static_cast<std::size_t>(i)], 1000 * (i / columns) + i % columns) << i;
  }
}

/// Numbers in [-1, 1) with all bits in use.
std::vector<double> numbers(std::size_t n, std::uint64_t seed) {
  std::vector<double> values(n);
  for (double& value : values) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<double>(static_cast<std::int64_t>(seed)) * 0x1p-63;
  }
  return values;
}

/// The bits of all cells after both kernels on a device.
std::vector<double> results(const Device& device, std::int64_t rows, std::int64_t columns) {
  Stream stream(device, "test");
  const auto n = static_cast<std::size_t>(rows * columns);
  const Buffer a = to_device(stream, numbers(n, 1)), b = to_device(stream, numbers(n, 2));
  const Buffer c = to_device(stream, numbers(n, 3)), to(device, 2 * n * sizeof(double), Memory::device);
  for_each_row(stream, rows, columns,
               Stencil{a.as<double>(), b.as<double>(), c.as<double>(), to.as<double>(), rows, columns, 0.1});
  for_each_row(stream, rows, columns, Mixed{a.as<double>(), to.as<double>(), to.as<double>() + n, columns});
  return from_device(stream, to.as<double>(), 2 * n);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// The stencil once more, cell by cell, every intermediate result rounded.
double stencil_by_hand(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                       std::size_t rows, std::size_t columns, std::size_t row, std::size_t column) {
  const auto rounded = [](double x) {
    volatile double kept = x;
    return kept;
  };
  const std::size_t i = row * columns + column;
  const double north = row > 0 ? b[i - columns] : b[i], south = row + 1 < rows ? b[i + columns] : b[i];
  const double west = column > 0 ? b[i - 1] : b[i], east = column + 1 < columns ? b[i + 1] : b[i];
  double sum = rounded(rounded(1.3 * a[i]) + rounded(0.7 * c[i]));
  sum = rounded(sum + rounded(north * south));
  sum = rounded(sum + rounded(west * 1.1));
  sum = rounded(sum + rounded(east / 3.0));
  sum = rounded(sum - rounded(6.0 * b[i]));
  return rounded(b[i] + rounded(0.1 * sum));
}

TEST(ForEachRowBits, DoNotDependOnTheInstructionSet) {
  for (const std::int64_t columns : {1, 2, 3, 5, 8, 9, 17, 64, 101}) {
    const std::int64_t rows = 37;
    const auto n = static_cast<std::size_t>(rows * columns);
    std::vector<double> first;
    for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
      if (isa > best_isa()) continue;
      for (const int threads : {1, 2}) {
        DeviceCase device = host_case("", threads, false);
        device.options.isa = isa;
        const std::vector<double> values = results(device.open(), rows, columns);
        if (first.empty()) first = values;
        EXPECT_TRUE(same_bits(values, first)) << isa_name(isa) << ", " << threads << " threads, " << columns;
      }
    }
    const std::vector<double> a = numbers(n, 1), b = numbers(n, 2), c = numbers(n, 3);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = i / static_cast<std::size_t>(columns), column = i % static_cast<std::size_t>(columns);
      ASSERT_EQ(first[i], stencil_by_hand(a, b, c, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                                          row, column))
          << row << ", " << column;
    }
  }
}

TEST_P(ForEachRowTest, BitsDoNotDependOnStreams) {
  const Device device = GetParam().open();
  if (device.is_cuda()) GTEST_SKIP() << "the same bits are promised within a back end";
  EXPECT_TRUE(same_bits(results(device, 50, 77), results(host_case("", 1, false).open(), 50, 77)));
}

}  // namespace
}  // namespace dsea::test
