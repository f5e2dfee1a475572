// The force on one molecule, without a list: the plain sum over all molecules of the surrounding cells.
//
// Every molecule computes the whole sum itself (a pair is evaluated twice), over the nine ranges of Packed in their
// order, so the bits depend on the state only. A pair at the cut-off or beyond adds nothing. A list leaves out some of
// those, and keeps the order: its sums have the same bits.
#pragma once

#include <cstdint>

#include "kernels/cell_list/packed.hpp"
#include "kernels/md/pair/pair_law.hpp"

namespace dsea::md {

/// What the neighbours do to a molecule.
struct PairSums {
  double x = 0, y = 0, z = 0;  ///< force
  double energy = 0;           ///< sum of the pair energies; half of it is the molecule's
  double virial = 0;           ///< sum of r . f; half of it is the molecule's
};

/// The table of pairs: row (a, b) of types a, b from 1.
struct PairTable {
  const PairRow* rows = nullptr;  ///< types x types
  int types = 1;

  DSEA_FN const double* of(int a, int b) const { return rows[(a - 1) * types + (b - 1)].c; }
};

/// Adds pairs to a molecule's sums.
template <class Law>
struct AddPair {
  PairTable table;
  Position own;
  int type;  // of the molecule

  DSEA_FN AddPair(const PairTable& pairs, const Position& position)
      : table(pairs), own(position), type(tag_type(position.tag)) {}

  struct Distance {
    double x, y, z, r2;
  };

  DSEA_FN Distance distance(const Position& other) const {
    const double x = own.x - other.x;
    const double y = own.y - other.y;
    const double z = own.z - other.z;
    return {x, y, z, x * x + y * y + z * z};
  }

  DSEA_FN const double* row(const Position& other) const {
    return table.types == 1 ? table.rows[0].c : table.of(type, tag_type(other.tag));
  }

  DSEA_FN void operator()(PairSums& sums, const Position& other) const {
    const Distance d = distance(other);
    const double* c = row(other);
    if (!(d.r2 < c[0])) return;
    const PairValue<double> value = Law::evaluate(d.r2, c);
    sums.x += value.force_over_r * d.x;
    sums.y += value.force_over_r * d.y;
    sums.z += value.force_over_r * d.z;
    sums.energy += value.energy;
    sums.virial += value.force_over_r * d.r2;
  }
};

/// Sums for molecule i of the middle slab.
///
/// Only about one in six of the molecules it meets is within the cut-off, and which one cannot be predicted. So the
/// host first collects the near ones of a stretch without branching, then adds them in the same order.
template <class Law>
DSEA_FN inline PairSums plain_sums(const Packed& packed, const PairTable& table, std::int64_t i) {
  const int cell = packed.cell_of(i);
  const int y = cell / packed.shape.nz;
  const int z = cell % packed.shape.nz;
  const std::int32_t self = packed.own_base(y) + static_cast<std::int32_t>(i);
  const AddPair<Law> add(table, packed.position[self]);
  PairSums sums;
  for (int number = 0; number < Packed::ranges; ++number) {
    const Range range = packed.around(y, z, number);
#if defined(__CUDA_ARCH__)
    for (std::int32_t j = range.begin; j < range.end; ++j) {
      if (j != self) add(sums, packed.position[j]);
    }
#else
    constexpr int stretch = 64;
    for (std::int32_t first = range.begin; first < range.end; first += stretch) {
      const std::int32_t last = first + stretch < range.end ? first + stretch : range.end;
      std::int32_t near[stretch];
      int n = 0;
      for (std::int32_t j = first; j < last; ++j) {
        near[n] = j;
        const auto& other = packed.position[j];
        n += static_cast<int>(add.distance(other).r2 < add.row(other)[0]) & static_cast<int>(j != self);
      }
      for (int k = 0; k < n; ++k) add(sums, packed.position[near[k]]);
    }
#endif
  }
  return sums;
}

}  // namespace dsea::md
