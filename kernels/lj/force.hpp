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
///
/// Only about one in six of the molecules it meets is within the cut-off, and which one cannot be predicted. So the
/// host first collects the near ones of a stretch without branching, then adds them; the order, and so the bits, stay
/// the same.
template <class Pair>
struct AddRange {
  static constexpr int stretch = 64;

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
#if defined(__CUDA_ARCH__)
    for (std::int64_t j = begin; j < end; ++j) {
      const Distance d(own, others[j], shift_x, shift_y, shift_z);
      if (d.r2 < pair.cutoff2 && j != not_this) add(s, d);
    }
#else
    for (std::int64_t first = begin; first < end; first += stretch) {
      const std::int64_t last = first + stretch < end ? first + stretch : end;
      std::int32_t near[stretch];
      int n = 0;
      for (std::int64_t j = first; j < last; ++j) {
        const Distance d(own, others[j], shift_x, shift_y, shift_z);
        near[n] = static_cast<std::int32_t>(j);
        n += static_cast<int>(d.r2 < pair.cutoff2) & static_cast<int>(j != not_this);
      }
      for (int k = 0; k < n; ++k) add(s, Distance(own, others[near[k]], shift_x, shift_y, shift_z));
    }
#endif
    sums = s;
  }

 private:
  struct Distance {
    double x, y, z, r2;
    DSEA_FN Distance(const Position& from, const Position& other, double shift_x, double shift_y, double shift_z)
        : x((from.x - other.x) - shift_x),
          y((from.y - other.y) - shift_y),
          z((from.z - other.z) - shift_z),
          r2(x * x + y * y + z * z) {}
  };

  DSEA_FN void add(PairSums& s, const Distance& d) const {
    const auto value = pair(d.r2);
    s.x += value.force_over_r * d.x;
    s.y += value.force_over_r * d.y;
    s.z += value.force_over_r * d.z;
    s.energy += value.energy;
    s.virial += value.force_over_r * d.r2;
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
