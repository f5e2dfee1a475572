// The network devices of this machine, as far as /sys tells.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dsea {

/// A port of a card: "mlx5_0:1" of InfiniBand or RoCE, "eth0".
struct NetworkCard {
  std::string name;
  std::string state;             ///< in the system's words, lower case: "active", "up", "down"
  double gbit = 0;               ///< bits per second / 1e9; 0 where the system does not say
  std::optional<int> numa_node;  ///< of the card; nothing where the system does not say
  bool rail = false;             ///< slices travel over it
};

/// The ports that seem to be of real cards, and all that `rails` names, sorted by name. A card that has an InfiniBand
/// or RoCE device is listed by that name only, unless a rail names the other. Where there is no real card, as in a
/// container, whatever looks like one end of a cable. Thread safe; reads the system at every call. `root` is put in
/// front of the paths of /sys (for tests).
std::vector<NetworkCard> network_cards(std::span<const std::string> rails = {}, const std::string& root = "");

/// "mlx5_0:1 active 200 Gbit/s numa 0 (rail), eth0 up"; "-" if there are none.
std::string network_cards_text(std::span<const NetworkCard> cards);

}  // namespace dsea
