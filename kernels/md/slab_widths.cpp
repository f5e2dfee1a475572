#include "kernels/md/slab_widths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dsea/base/text.hpp"

namespace dsea::md {

namespace {

constexpr int bins_a_slab = 32;

std::vector<double> given(const Settings& s, const Axis& x, double reach) {
  const char* const key = "ring.slab_widths";
  const double sum = std::accumulate(s.slab_widths.begin(), s.slab_widths.end(), 0.0);
  if (std::abs(sum - x.length) > 1e-9 * x.length) {
    s.origin.fail(key, cat("the widths add up to ", sum, ", but the box is ", x.length, " long along the stream axis"));
  }
  std::vector<double> edges{x.lo};
  for (std::size_t i = 0; i < s.slab_widths.size(); ++i) {
    const double width = s.slab_widths[i];
    if (width < reach && s.slab_widths.size() > 1) {
      s.origin.fail(key,
                    cat("slab ", i, " is ", width, " wide, but the cut-off and how far molecules move between two ",
                        "sortings need ", reach, ": make it wider, or neighbour.every smaller"));
    }
    edges.push_back(edges.back() + width);
  }
  edges.back() = x.hi;
  return edges;
}

/// Pieces that take bins as long as their sum stays at most `limit`, and there are at most `most`; what is left at the
/// end goes to the last one.
std::vector<std::size_t> greedy(const std::vector<std::int64_t>& bins, std::size_t least, std::size_t most,
                                std::int64_t limit) {
  std::vector<std::size_t> edges{0};
  std::size_t at = 0;
  while (bins.size() - at >= 2 * least) {
    std::int64_t sum = 0;
    std::size_t end = at;
    for (; end < at + least; ++end) sum += bins[end];
    while (end < bins.size() && end - at < most && sum + bins[end] <= limit) sum += bins[end++];
    end = std::min(end, bins.size() - least);  // leaves enough for another piece
    edges.push_back(end);
    at = end;
  }
  edges.push_back(bins.size());
  return edges;
}

std::int64_t largest_sum(const std::vector<std::int64_t>& bins, const std::vector<std::size_t>& edges) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const auto at = [&](std::size_t bin) { return bins.begin() + static_cast<std::ptrdiff_t>(bin); };
    largest = std::max(largest, std::accumulate(at(edges[i]), at(edges[i + 1]), std::int64_t{0}));
  }
  return largest;
}

}  // namespace

std::vector<std::size_t> balanced_pieces(const std::vector<std::int64_t>& bins, std::size_t least) {
  least = std::max<std::size_t>(1, least);
  if (bins.size() < 2 * least) return {0, bins.size()};
  // No cut is better than the fullest piece of the least width.
  std::int64_t sum = std::accumulate(bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(least), std::int64_t{0});
  std::int64_t bound = sum;
  for (std::size_t i = least; i < bins.size(); ++i) {
    sum += bins[i] - bins[i - least];
    bound = std::max(bound, sum);
  }
  const std::int64_t all = std::accumulate(bins.begin(), bins.end(), std::int64_t{0});
  if (all == 0) return {0, bins.size()};
  const double even = static_cast<double>(all) / static_cast<double>(bins.size());  // if it were spread evenly
  const auto most = std::max(least, static_cast<std::size_t>(static_cast<double>(bound) / even));
  // What the greedy way leaves for the last piece depends on the limit: try some.
  std::vector<std::size_t> best;
  std::int64_t best_sum = 0;
  for (int percent = 100; percent <= 200; ++percent) {
    const auto edges = greedy(bins, least, most, bound * percent / 100);
    const std::int64_t largest = largest_sum(bins, edges);
    if (best.empty() || largest < best_sum || (largest == best_sum && edges.size() > best.size())) {
      best = edges;
      best_sum = largest;
    }
  }
  return best;
}

std::vector<double> choose_slabs(const Settings& settings, const CellGrid& grid, double reach,
                                 const CountMolecules& count) {
  if (!settings.slab_widths.empty()) return given(settings, grid.x, reach);
  if (settings.slabs != "balanced" || grid.x.parts == 1) return {};
  Axis fine = grid.x;
  fine.parts = grid.x.parts * bins_a_slab;
  fine.per_part = fine.parts / fine.length;
  const double bin = fine.length / fine.parts;
  const auto least = static_cast<std::size_t>(std::ceil(reach / bin * (1 - 1e-12)));
  const auto pieces = balanced_pieces(count(fine), least);
  std::vector<double> edges;
  double narrowest = fine.length, widest = 0;
  for (const std::size_t piece : pieces) {
    edges.push_back(piece == pieces.back() ? fine.hi : fine.lo + static_cast<double>(piece) * bin);
    if (edges.size() == 1) continue;
    const double width = edges.back() - edges[edges.size() - 2];
    narrowest = std::min(narrowest, width);
    widest = std::max(widest, width);
  }
  settings.origin.inform(cat("slabs: ", edges.size() - 1, ", balanced, ", narrowest, " to ", widest, " wide"));
  return edges;
}

}  // namespace dsea::md
