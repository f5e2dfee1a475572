// How often molecules are sorted, and how much wider than the cut-off slabs and cells are because of that.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cell_list/cell_grid.hpp"

namespace dsea::md {

/// Between two sortings a molecule may leave its cell by `margin`; then molecules of cells that do not touch are still
/// no closer than the cut-off if cells are at least cut-off + 2 margin wide.
struct Sorting {
  int every = 1;      ///< steps
  double margin = 0;  ///< least; cells turn out wider, and then it is as much as fits
};

/// Largest speed to reckon with: of some 10^8 molecules of temperature T and mass m none is faster than 6 sqrt(T/m).
inline double largest_speed(double temperature, double mass) { return 6.0 * std::sqrt(temperature / mass); }

/// The margin for a number of steps: what the fastest molecule travels, and half as much again, because temperatures
/// change. Sorted in every step, a molecule never leaves its cell.
inline double margin_for(int every, double dt, double speed) { return every == 1 ? 0.0 : 1.5 * every * dt * speed; }

/// The longest interval in which the fastest molecule moves by at most 6 % of the cut-off (half of the usual skin of a
/// neighbour list), 30 steps at most, and for which the periodic axes are long enough.
inline Sorting choose_sorting(double dt, double speed, double cutoff, const std::array<double, 3>& lengths,
                              const std::array<bool, 3>& periodic) {
  const double distance = dt * speed;
  int every = distance * 30 > 0.06 * cutoff ? std::max(1, static_cast<int>(0.06 * cutoff / distance)) : 30;
  for (; every > 1; --every) {
    const double reach = cutoff + 2 * margin_for(every, dt, speed);
    bool fits = true;
    for (std::size_t axis = 0; axis < 3; ++axis) fits = fits && (!periodic[axis] || lengths[axis] >= reach);
    if (fits) break;
  }
  return {every, margin_for(every, dt, speed)};
}

/// What the parts of a grid allow, on the host.
struct Widths {
  double margin = 1e300;  ///< how far a molecule may leave its cell before a pair may be missed
  double narrowest = 1e300;
};

inline Widths widths_of(const CellGrid& grid, double cutoff) {
  Widths w;
  const auto add = [&w, cutoff](double width) {
    w.narrowest = std::min(w.narrowest, width);
    w.margin = std::min(w.margin, 0.5 * (width - cutoff));
  };
  if (grid.x.parts > 1 || grid.x.periodic) {
    for (int slab = 0; slab < grid.x.parts; ++slab) add(grid.x.width(slab));
  }
  for (const Axis* axis : {&grid.y, &grid.z}) {
    if (axis->parts > 1 || axis->periodic) add(axis->length / axis->parts);
  }
  w.margin = std::max(0.0, w.margin);
  return w;
}

}  // namespace dsea::md
