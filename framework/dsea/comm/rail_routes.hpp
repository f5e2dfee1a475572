// Which way each rail takes from one rank to the next: pure arithmetic.
//
// Every node has the same number of network cards, one a rail. Without relays a rank uses all cards of its node itself.
// With relays each card has an owner among the node's ranks, so that a rank uses only the card that is near to its GPU:
// a rail then leads from the sender to the owner of the card, over the network to the owner of the card on the other
// node, and to the receiver; owners are ordinary ranks, whether or not they have neighbours on other nodes.
#pragma once

#include <vector>

namespace dsea {

struct RailHop {
  int from = 0, to = 0;  ///< ranks
  int card = -1;         ///< network card; -1: within the node
  bool operator==(const RailHop&) const = default;
};

/// The hops of one rail, one to three.
using RailRoute = std::vector<RailHop>;

/// The routes from rank `from` to the next one. `nodes`: the node of every rank. Within a node there is one route of
/// one hop, whatever the number of rails; between nodes there are `rails` (at least 1).
std::vector<RailRoute> rail_routes(const std::vector<int>& nodes, int from, int rails, bool relays);

/// With relays: the rank that uses this card of the node for `rank`, one of that node: itself if the card is one of its
/// own (those of the node's i-th rank are i, i + G, ... of G ranks; with more ranks than cards, rank i has card i
/// modulo their number).
int card_owner(const std::vector<int>& nodes, int rank, int card, int rails);

}  // namespace dsea
