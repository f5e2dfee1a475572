#include "dsea/comm/rail_routes.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using dsea::RailHop;
using dsea::RailRoute;

std::vector<int> nodes_of(int nodes, int ranks_a_node) {
  std::vector<int> all;
  for (int rank = 0; rank < nodes * ranks_a_node; ++rank) all.push_back(rank / ranks_a_node);
  return all;
}

TEST(RailRoutes, WithinANodeThereIsOneHop) {
  EXPECT_EQ(dsea::rail_routes({0, 0, 1}, 0, 4, true), (std::vector<RailRoute>{{{0, 1, -1}}}));
}

TEST(RailRoutes, WithoutRelaysARankUsesAllCards) {
  EXPECT_EQ(dsea::rail_routes({0, 0, 1}, 1, 2, false), (std::vector<RailRoute>{{{1, 2, 0}}, {{1, 2, 1}}}));
}

TEST(RailRoutes, RelaysLeadOverTheOwnersOfTheCards) {
  // Two nodes of two ranks and two cards: rank 1 has card 1, rank 0 lends its card 0.
  EXPECT_EQ(dsea::rail_routes({0, 0, 1, 1}, 1, 2, true),
            (std::vector<RailRoute>{{{1, 0, -1}, {0, 2, 0}}, {{1, 3, 1}, {3, 2, -1}}}));
}

TEST(RailRoutes, EveryRouteLeadsFromTheSenderToTheReceiverOverItsCardWhateverDividesWhat) {
  for (int ranks_a_node = 1; ranks_a_node <= 5; ++ranks_a_node) {
    for (int rails = 1; rails <= 5; ++rails) {
      const auto nodes = nodes_of(3, ranks_a_node);
      for (int from = 0; from < 3 * ranks_a_node; ++from) {
        const int to = (from + 1) % (3 * ranks_a_node);
        const auto routes = dsea::rail_routes(nodes, from, rails, true);
        if (nodes[from] == nodes[to]) continue;
        ASSERT_EQ(routes.size(), static_cast<std::size_t>(rails));
        for (int card = 0; card < rails; ++card) {
          const RailRoute& route = routes[card];
          EXPECT_EQ(route.front().from, from);
          EXPECT_EQ(route.back().to, to);
          int cards = 0;
          for (std::size_t h = 0; h < route.size(); ++h) {
            if (h > 0) {
              EXPECT_EQ(route[h].from, route[h - 1].to);
            }
            EXPECT_NE(route[h].from, route[h].to);
            EXPECT_EQ(nodes[route[h].from] != nodes[route[h].to], route[h].card >= 0);
            if (route[h].card < 0) continue;
            ++cards;
            EXPECT_EQ(route[h].card, card);
          }
          EXPECT_EQ(cards, 1);
        }
      }
    }
  }
}

TEST(RailRoutes, ACardHasOneOwnerUnlessThereAreMoreRanksThanCards) {
  const auto nodes = nodes_of(2, 4);
  for (int card = 0; card < 4; ++card) {
    std::set<int> owners;
    for (int rank = 0; rank < 4; ++rank) owners.insert(dsea::card_owner(nodes, rank, card, 4));
    EXPECT_EQ(owners, std::set<int>{card});
  }
  EXPECT_EQ(dsea::card_owner(nodes, 2, 0, 2), 2);  // four ranks, two cards: ranks 0 and 2 have card 0
  EXPECT_EQ(dsea::card_owner(nodes, 3, 0, 2), 0);
  EXPECT_EQ(dsea::card_owner(nodes, 7, 1, 2), 7);
}

}  // namespace
