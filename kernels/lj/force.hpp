// The force on one molecule: the plain sum over all molecules of the surrounding cells.
//
// Every molecule computes the whole sum itself (a pair is evaluated twice), in the order of visit_ranges(), so the bits
// depend on the state only. A distance is (own - other) - shift, which changes its sign exactly when the two molecules
// change places: both see the same distance, and forces cancel exactly pair by pair.
#pragma once

#include <cstdint>

#include "kernels/cell_list/neighbours.hpp"
#include "kernels/lj/pair.hpp"

namespace dsea::md {

/// What the neighbours do to a molecule.
struct PairSums {
  double x = 0, y = 0, z = 0;  ///< force
  double energy = 0;           ///< sum of the pair energies; half of it is the molecule's
  double virial = 0;           ///< sum of r . f; half of it is the molecule's
};

/// Adds a range of molecules to the sums: the visitor of visit_ranges().
template <class Pair>
struct AddRange {
  const Surroundings& around;
  const Pair& pair;
  const Position& own;
  std::int64_t self;  // place of the molecule in the middle slab
  PairSums& sums;

  DSEA_FN void operator()(int slab, std::int32_t begin, std::int32_t end, double shift_x, double shift_y,
                          double shift_z, bool home) const {
    const Position* others = around.position[slab].data;
    const std::int64_t not_this = home ? self : -1;
    PairSums s = sums;
    for (std::int64_t j = begin; j < end; ++j) {
      const double dx = (own.x - others[j].x) - shift_x;
      const double dy = (own.y - others[j].y) - shift_y;
      const double dz = (own.z - others[j].z) - shift_z;
      const double r2 = dx * dx + dy * dy + dz * dz;
      if (r2 < pair.cutoff2 && j != not_this) {
        const auto value = pair(r2);
        s.x += value.force_over_r * dx;
        s.y += value.force_over_r * dy;
        s.z += value.force_over_r * dz;
        s.energy += value.energy;
        s.virial += value.force_over_r * r2;
      }
    }
    sums = s;
  }
};

/// Sums for molecule `self` of the middle slab.
template <class Pair>
DSEA_FN inline PairSums sum_neighbours(const Surroundings& around, const Pair& pair, std::int64_t self) {
  const Position own = around.position[1][self];
  PairSums sums;
  visit_ranges(around, around.grid.y.part(own.y), around.grid.z.part(own.z),
               AddRange<Pair>{around, pair, own, self, sums});
  return sums;
}

}  // namespace dsea::md
