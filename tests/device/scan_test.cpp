#include "dsea/device/scan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "device/devices.hpp"

namespace dsea::test {
namespace {

class ScanTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, ScanTest, testing::ValuesIn(all_devices()), case_name);

template <class T>
void check_scan(Stream& stream, std::int64_t n, bool in_place) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<T> counts(size + 2, T{-9}), expected(size + 2, T{-9});
  T sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    counts[i] = static_cast<T>((i * i + 3) % 17);
    expected[i] = sum;
    sum += counts[i];
  }
  expected[size] = sum;
  const Buffer in = to_device(stream, counts);
  const Buffer other = to_device(stream, std::vector<T>(size + 2, T{-9}));
  const Buffer scratch(stream.device(), exclusive_scan_scratch_bytes<T>(n), Memory::device);
  T* const out = in_place ? in.as<T>() : other.as<T>();
  exclusive_scan(stream, in.as<const T>(), out, n, scratch.data());
  EXPECT_EQ(from_device(stream, out, size + 2), expected) << n;
}

TEST_P(ScanTest, GivesPlacesAndTheTotal) {
  Stream stream(GetParam().open(), "test");
  for (const std::int64_t n : {0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 10000, 600001}) {
    check_scan<std::int32_t>(stream, n, false);
    check_scan<std::int32_t>(stream, n, true);
    check_scan<std::int64_t>(stream, n, false);
  }
}

TEST_P(ScanTest, TakesTotalsAbove32Bits) {
  Stream stream(GetParam().open(), "test");
  const std::vector<std::int64_t> counts(3, std::int64_t{1} << 40);
  const Buffer in = to_device(stream, counts), out(stream.device(), 4 * sizeof(std::int64_t), Memory::device);
  const Buffer scratch(stream.device(), exclusive_scan_scratch_bytes<std::int64_t>(3), Memory::device);
  exclusive_scan(stream, in.as<const std::int64_t>(), out.as<std::int64_t>(), 3, scratch.data());
  EXPECT_EQ(from_device(stream, out.as<std::int64_t>(), 4)[3], std::int64_t{3} << 40);
}

}  // namespace
}  // namespace dsea::test
