#include "dsea/base/numa.hpp"

#include "base/fake_system.hpp"
#include "dsea/base/range_list.hpp"
#include "dsea/base/threads.hpp"

namespace dsea {
namespace {

using Numa = test::FakeSystem;
using Numbers = std::vector<int>;

TEST(RangeList, IsShort) {
  EXPECT_EQ(range_list_text(Numbers{0, 1, 2, 3, 4, 5, 6, 7, 16}), "0-7,16");
  EXPECT_EQ(range_list_text(Numbers{3}), "3");
  EXPECT_EQ(range_list_text(Numbers{0, 2, 3}), "0,2-3");
  EXPECT_EQ(range_list_text({}), "-");
}

TEST(RangeList, IsUnderstood) {
  EXPECT_EQ(parse_range_list("0-3,8\n"), (Numbers{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_range_list("5"), Numbers{5});
  EXPECT_EQ(parse_range_list(""), Numbers{});
  EXPECT_EQ(parse_range_list("-"), Numbers{});
  EXPECT_EQ(parse_range_list("x,2,3-"), Numbers{2});
}

TEST_F(Numa, NodesOfProcessors) {
  EXPECT_EQ(numa_nodes_of_cpus(Numbers{0}, root()), Numbers{});
  write("/sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
  write("/sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
  write("/sys/devices/system/node/node2/cpulist", "\n");  // memory alone
  write("/sys/devices/system/node/possible", "0-2\n");
  EXPECT_EQ(numa_nodes_of_cpus(Numbers{0, 9}, root()), Numbers{0});
  EXPECT_EQ(numa_nodes_of_cpus(Numbers{12}, root()), Numbers{1});
  EXPECT_EQ(numa_nodes_of_cpus(Numbers{3, 4}, root()), (Numbers{0, 1}));
  EXPECT_EQ(numa_nodes_of_cpus(Numbers{99}, root()), Numbers{});
}

TEST_F(Numa, NodeOfAPciDevice) {
  EXPECT_FALSE(numa_node_of_pci("0000:3b:00.0", root()));
  write("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  EXPECT_EQ(numa_node_of_pci("0000:3b:00.0", root()), 1);
  EXPECT_EQ(numa_node_of_pci("0000:3B:00.0", root()), 1);
  write("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "-1\n");
  EXPECT_FALSE(numa_node_of_pci("0000:3b:00.0", root())) << "what a machine with one node says";
}

}  // namespace
}  // namespace dsea
