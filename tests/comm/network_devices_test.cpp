#include "dsea/comm/network_devices.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "dsea/base/error.hpp"
#include "support/command.hpp"

namespace {

using dsea::DeviceAddress;
using Names = std::vector<std::string>;

const std::vector<DeviceAddress> node = {{"lo", "127.0.0.1", true},
                                         {"ib0", "10.1.0.5"},
                                         {"eth0", "10.0.0.5"},
                                         {"docker0", "172.17.0.1"},
                                         {"eth0", "fd00::5"}};

Names order(const std::string& device, const Names& data, const Names& of_host) {
  Names names;
  for (const DeviceAddress& a : dsea::control_addresses(node, device, data, of_host)) names.push_back(a.address);
  return names;
}

TEST(ControlAddresses, DevicesOfDataComeAfterTheOthersAndLoopbackLast) {
  EXPECT_EQ(order("auto", {"ib0"}, {}), (Names{"10.0.0.5", "172.17.0.1", "fd00::5", "10.1.0.5", "127.0.0.1"}));
}

TEST(ControlAddresses, TheDeviceOfTheHostNameComesFirst) {
  EXPECT_EQ(order("auto", {}, {"10.0.0.5"}), (Names{"10.0.0.5", "fd00::5", "10.1.0.5", "172.17.0.1", "127.0.0.1"}));
  EXPECT_EQ(order("auto", {}, {"127.0.0.1"}).front(), "10.1.0.5");  // says nothing
}

TEST(ControlAddresses, OneDeviceMayBeNamed) {
  EXPECT_EQ(order("eth0", {"ib0"}, {}), (Names{"10.0.0.5", "fd00::5"}));
  EXPECT_EQ(order("lo", {}, {}), (Names{"127.0.0.1"}));
}

TEST(ControlAddresses, ADeviceThatIsNotThereIsRefusedWithTheNamesOfThoseThatAre) {
  try {
    order("eth1", {}, {});
    FAIL();
  } catch (const dsea::UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'eth1'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("there are lo, ib0, eth0, docker0"), std::string::npos) << error.what();
  }
}

TEST(DeviceAddresses, ThisMachineHasALoopbackDevice) {
  bool found = false;
  for (const DeviceAddress& a : dsea::device_addresses()) found = found || (a.loopback && a.address == "127.0.0.1");
  EXPECT_TRUE(found);
}

class Devices : public testing::Test {
 protected:
  void device(const std::string& name, const std::string& state, const std::string& carrier, bool physical) {
    const std::string path = root_ / ("sys/class/net/" + name);
    std::filesystem::create_directories(path + (physical ? "/device" : ""));
    support::write_file(path + "/operstate", state + "\n");
    support::write_file(path + "/carrier", carrier);
  }
  support::TempFolder root_;
};

TEST_F(Devices, ThoseThatAreDownAreFound) {
  device("eth0", "up", "1\n", true);
  device("eth1", "down", "", true);
  device("eth2", "unknown", "0\n", true);
  device("lo", "unknown", "1\n", false);
  device("docker0", "down", "0\n", false);
  device("rail0", "up", "1\n", false);
  device("rail1", "lowerlayerdown", "0\n", false);
  EXPECT_EQ(dsea::devices_down({}, root_.path()), (Names{"eth1", "eth2"}));
  EXPECT_EQ(dsea::devices_down({"rail0", "rail1"}, root_.path()), (Names{"eth1", "eth2", "rail1"}));
  EXPECT_EQ(dsea::devices_down({"rail0"}, root_ / "nothing"), Names{});
}

TEST_F(Devices, AdaptersAreKnownByTheirNetworkDevices) {
  std::filesystem::create_directories(root_ / "sys/class/infiniband/mlx5_0/device/net/ib0");
  EXPECT_EQ(dsea::rail_devices({"mlx5_0:1", "eth0"}, root_.path()), (Names{"ib0", "eth0"}));
}

}  // namespace
