// Slabs that hold about as many molecules each.
#include "kernels/md/slab_widths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace dsea::md {
namespace {

using Bins = std::vector<std::int64_t>;
using Edges = std::vector<std::size_t>;

std::int64_t fullest(const Bins& bins, const Edges& edges) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    std::int64_t sum = 0;
    for (std::size_t bin = edges[i]; bin < edges[i + 1]; ++bin) sum += bins[bin];
    most = std::max(most, sum);
  }
  return most;
}

/// The smallest possible sum of the fullest piece: dynamic programming over the ends of pieces.
std::int64_t best_possible(const Bins& bins, std::size_t least) {
  constexpr std::int64_t never = 1 << 30;
  std::vector<std::int64_t> best(bins.size() + 1, never);
  best[0] = 0;
  for (std::size_t end = least; end <= bins.size(); ++end) {
    std::int64_t sum = 0;
    for (std::size_t first = end; first-- > 0;) {
      sum += bins[first];
      if (end - first >= least) best[end] = std::min(best[end], std::max(best[first], sum));
    }
  }
  return best.back();
}

TEST(BalancedPieces, AreWideWhereThereIsLittle) {
  Bins bins(300);
  std::fill(bins.begin(), bins.begin() + 100, 10);  // a film in the first third
  const Edges edges = balanced_pieces(bins, 10);
  EXPECT_EQ(edges.front(), 0U);
  EXPECT_EQ(edges.back(), 300U);
  EXPECT_EQ(fullest(bins, edges), 100);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(edges[i], 10 * i);
  // Beyond the film they are wide, but no wider than what 100 would fill if all were spread evenly: 30.
  EXPECT_EQ(edges.size(), 18U);
  for (std::size_t i = 10; i + 1 < edges.size(); ++i) EXPECT_LE(edges[i + 1] - edges[i], 30U);
}

TEST(BalancedPieces, AreNeverTooNarrowAndNearlyTheBest) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::size_t least = 1 + random() % 12;
    Bins bins(1 + random() % 150);
    for (auto& n : bins) n = static_cast<std::int64_t>(random() % 4 == 0 ? random() % 50 : random() % 5);
    const Edges edges = balanced_pieces(bins, least);
    ASSERT_EQ(edges.front(), 0U);
    ASSERT_EQ(edges.back(), bins.size());
    if (bins.size() < 2 * least) {
      ASSERT_EQ(edges.size(), 2U);
      continue;
    }
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) ASSERT_GE(edges[i + 1] - edges[i], least);
    // Only what is left at the end may make it worse, by less than the fullest piece of the least width.
    EXPECT_LE(fullest(bins, edges), 2 * best_possible(bins, least)) << "round " << round;
  }
}

TEST(BalancedPieces, OfAnEmptyBoxAreOne) { EXPECT_EQ(balanced_pieces(Bins(50), 5), (Edges{0, 50})); }

}  // namespace
}  // namespace dsea::md
