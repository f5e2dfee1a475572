#include "dsea/comm/rail_routes.hpp"

#include <algorithm>
#include <cstddef>

namespace dsea {

int card_owner(const std::vector<int>& nodes, int rank, int card, int rails) {
  const int node = nodes[static_cast<std::size_t>(rank)];
  std::vector<int> mates;
  for (std::size_t other = 0; other < nodes.size(); ++other) {
    if (nodes[other] == node) mates.push_back(static_cast<int>(other));
  }
  const int g = static_cast<int>(mates.size());
  const int i = static_cast<int>(std::find(mates.begin(), mates.end(), rank) - mates.begin());
  if (g > rails && i % rails == card) return rank;
  return mates[static_cast<std::size_t>(card % g)];
}

std::vector<RailRoute> rail_routes(const std::vector<int>& nodes, int from, int rails, bool relays) {
  const int ranks = static_cast<int>(nodes.size());
  const int to = (from + 1) % ranks;
  if (nodes[static_cast<std::size_t>(from)] == nodes[static_cast<std::size_t>(to)]) return {{{from, to, -1}}};
  std::vector<RailRoute> routes;
  for (int card = 0; card < rails; ++card) {
    const int sender = relays ? card_owner(nodes, from, card, rails) : from;
    const int receiver = relays ? card_owner(nodes, to, card, rails) : to;
    RailRoute route;
    if (sender != from) route.push_back({from, sender, -1});
    route.push_back({sender, receiver, card});
    if (receiver != to) route.push_back({receiver, to, -1});
    routes.push_back(route);
  }
  return routes;
}

}  // namespace dsea
