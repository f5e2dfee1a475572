#include "dsea/ring/host_slice.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace dsea;

TEST(HostSlice, FetchesOnlyWhatIsWanted) {
  const Device device = Device::open({.backend = "host"});
  SliceLayout layout;
  const int a = layout.list<int>("a", 4).index, b = layout.list<int>("b", 4).index;
  std::array<int, 4> here{1, 2, 3, 4};
  std::int64_t live = 3;
  // Nobody may look at the other field: it is just being given its memory.
  std::array<RawField, 2> fields{};
  fields[static_cast<std::size_t>(a)] = {here.data(), &live, 4};
  fields[static_cast<std::size_t>(b)] = {here.data(), nullptr, 4};
  HostSlice staging(device, layout, 1, true);
  const RawField* mine = staging.fetch(0, fields.data(), bit_of(a));
  ASSERT_NE(mine[a].data, here.data());
  EXPECT_EQ(*mine[a].count, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(static_cast<const int*>(mine[a].data)[i], here[static_cast<std::size_t>(i)]);
  EXPECT_EQ(*mine[b].count, 0);
}

}  // namespace
