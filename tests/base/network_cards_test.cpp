#include "dsea/base/network_cards.hpp"

#include "base/fake_system.hpp"

namespace dsea {
namespace {

class NetworkCards : public test::FakeSystem {
 protected:
  void net(const std::string& name, const std::string& state, const std::string& speed, bool real) const {
    const std::string folder = "/sys/class/net/" + name;
    write(folder + "/operstate", state + "\n");
    write(folder + "/type", name == "lo" ? "772\n" : "1\n");
    if (!speed.empty()) write(folder + "/speed", speed + "\n");
    if (real) make_folder(folder + "/device");
  }
  void infiniband(const std::string& name, const std::string& state, const std::string& rate, int numa) const {
    const std::string folder = "/sys/class/infiniband/" + name;
    write(folder + "/ports/1/state", state + "\n");
    write(folder + "/ports/1/rate", rate + "\n");
    write(folder + "/device/numa_node", std::to_string(numa) + "\n");
  }
  std::string text(const std::vector<std::string>& rails = {}) const {
    return network_cards_text(network_cards(rails, root()));
  }
};

TEST_F(NetworkCards, AreNoneWithoutFiles) { EXPECT_EQ(text(), "-"); }

TEST_F(NetworkCards, AreThoseWithADeviceBehind) {
  net("eth0", "up", "10000", true);
  net("eth1", "down", "-1", true);
  net("lo", "unknown", "", false);
  net("docker0", "up", "10000", false);
  write("/sys/class/net/bonding_masters", "bond0\n");
  EXPECT_EQ(text(), "eth0 up 10 Gbit/s, eth1 down");
}

TEST_F(NetworkCards, HaveStateSpeedAndNode) {
  infiniband("mlx5_0", "4: ACTIVE", "200 Gb/sec (4X HDR)", 0);
  infiniband("mlx5_1", "1: DOWN", "2.5 Gb/sec (1X SDR)", 1);
  const auto cards = network_cards({}, root());
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_EQ(cards[0].name, "mlx5_0:1");
  EXPECT_EQ(cards[0].state, "active");
  EXPECT_EQ(cards[0].gbit, 200);
  EXPECT_EQ(cards[1].numa_node, 1);
  EXPECT_EQ(network_cards_text(cards), "mlx5_0:1 active 200 Gbit/s numa 0, mlx5_1:1 down 2.50 Gbit/s numa 1");
}

TEST_F(NetworkCards, RailsAreMarkedAndAlwaysThere) {
  infiniband("mlx5_0", "4: ACTIVE", "200 Gb/sec", -1);
  net("ib0", "up", "", true);
  make_folder("/sys/class/net/ib0/device/infiniband/mlx5_0");
  net("lo", "unknown", "", false);
  EXPECT_EQ(text(), "mlx5_0:1 active 200 Gbit/s") << "a card is listed once";
  EXPECT_EQ(text({"mlx5_0:1"}), "mlx5_0:1 active 200 Gbit/s (rail)");
  EXPECT_EQ(text({"mlx5_0"}), "mlx5_0:1 active 200 Gbit/s (rail)");
  EXPECT_EQ(text({"mlx5"}), "mlx5_0:1 active 200 Gbit/s");
  EXPECT_EQ(text({"ib0", "lo"}), "ib0 up (rail), lo unknown (rail), mlx5_0:1 active 200 Gbit/s");
}

TEST_F(NetworkCards, OfAContainerAreTheEndsOfItsCables) {
  net("lo", "unknown", "", false);
  net("rail0", "up", "10000", false);
  net("rail1", "up", "10000", false);
  net("br0", "up", "10000", false);
  make_folder("/sys/class/net/br0/bridge");
  net("tun0", "down", "", false);
  EXPECT_EQ(text(), "rail0 up 10 Gbit/s, rail1 up 10 Gbit/s");
  EXPECT_EQ(text({"rail1"}), "rail0 up 10 Gbit/s, rail1 up 10 Gbit/s (rail)");
}

}  // namespace
}  // namespace dsea
