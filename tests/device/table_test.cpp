#include "dsea/device/table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "device/devices.hpp"
#include "dsea/device/for_each.hpp"

namespace dsea::test {

struct Coefficients {
  double a, b;
};

struct LookUp {
  const Coefficients* table;
  double* out;
  DSEA_FN void operator()(std::int64_t i) const { out[i] = table[i].a + 100.0 * table[i].b; }
};

namespace {

class TableTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, TableTest, testing::ValuesIn(all_devices()), case_name);

TEST_P(TableTest, IsReadByKernels) {
  const Device device = GetParam().open();
  std::vector<Coefficients> values;
  for (int i = 0; i < 32 * 32; ++i) values.push_back({1.0 * i, 0.5 * i});
  Table<Coefficients> table(values);
  EXPECT_EQ(table.size(), values.size());
  EXPECT_EQ(table.host(5).b, 2.5);
  table.upload(device);

  Stream stream(device, "test");
  const Buffer out(device, values.size() * sizeof(double), Memory::device);
  for_each(stream, table.size(), LookUp{table.view(), out.as<double>()});
  const std::vector<double> found = from_device(stream, out.as<double>(), values.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], 51.0 * static_cast<double>(i));
}

TEST_P(TableTest, CopiesShareTheMemory) {
  Table<int> table({1, 2, 3});
  table.upload(GetParam().open());
  const Table<int> copy = table;
  EXPECT_EQ(copy.view(), table.view());
  table = Table<int>();
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_NE(copy.view(), nullptr);
}

TEST_P(TableTest, MayBeEmpty) {
  Table<int> table;
  table.upload(GetParam().open());
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.view(), nullptr);
}

TEST(Table, MustBeUploaded) { EXPECT_THROW(Table<int>({1}).view(), RunError); }

}  // namespace
}  // namespace dsea::test
