// Where slabs begin and end, if not all are of the same width.
//
//   [ring]
//   slabs = "balanced"            # about as many molecules in each, as far as the cut-off allows
//
//   slabs = "given"
//   slab_widths = [3.1, 8, 8.4]   # from the lower end of the stream axis; they add up to the box
//
// A ring works on many slabs at a time, and its slowest stage sets the pace: where molecules are spread unevenly along
// the stream axis, slabs of equal width leave workers waiting.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/md/settings.hpp"

namespace dsea::md {

/// Counts the molecules in each part of an axis.
using CountMolecules = std::function<std::vector<std::int64_t>(const Axis&)>;

/// Edges of the slabs, one more than slabs; empty: equal widths, as grid.x has them. No slab is narrower than `reach`,
/// unless it is the only one. Throws UsageError for widths that do not add up or are too small.
std::vector<double> choose_slabs(const Settings& settings, const CellGrid& grid, double reach,
                                 const CountMolecules& count);

/// Cuts a row of bins into pieces of at least `least` bins (one piece, if there are fewer than twice as many) such that
/// the largest sum of a piece is as small as this can find, and the pieces are many. No piece is so wide that it would
/// hold more than that sum if everything were spread evenly: what is in a film today may be a gas tomorrow. The first
/// bin of each piece, and the end.
std::vector<std::size_t> balanced_pieces(const std::vector<std::int64_t>& bins, std::size_t least);

}  // namespace dsea::md
