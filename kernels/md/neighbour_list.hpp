// Neighbour lists: who is within the cut-off plus a skin, in the order in which sums run (Verlet 1967).
//
// A list is made by the first worker of a process and serves the process's later workers, until molecules are sorted.
// It is no part of the state: any list that holds all pairs within the cut-off gives the same bits (pair_sums.hpp), so
// it does not matter where and when it was made. Whether it still holds all of them is seen from how far molecules may
// have moved since it was made: per slab, `moved` is the sum over the steps since the sorting of dt x the largest
// speed.
//
// Layout: molecules in groups of eight, entry k of the group's molecules side by side: entries[(i/8 x stride + k) x 8 +
// i%8] is a place of the packed array. On the host shorter lists of a group are filled up with the far-away molecule.
// A molecule with more than `stride` neighbours has no list, and its sums are plain ones.
#pragma once

#include <cstdint>

#include "dsea/device/for_each.hpp"
#include "kernels/md/pair_sums.hpp"

namespace dsea::md {

/// A slab's list, for kernels that use it.
struct NeighbourList {
  static constexpr int group = 8;

  const std::int32_t* number = nullptr;   ///< of entries, by molecule; more than stride: none are stored. Null: no list
  const std::int32_t* entries = nullptr;  ///< see above
  int stride = 0;                         ///< entries a molecule may have
  double skin = 0;
  const double* moved[3] = {};         ///< of slabs i-1, i, i+1, now; null where there is none
  const double* moved_then = nullptr;  ///< the same when the list was made

  /// Whether no molecule that is within the cut-off now can be missing.
  DSEA_FN bool holds_all() const {
    if (number == nullptr) return false;
    double others = 0;
    for (int slab = 0; slab < 3; ++slab) {
      if (moved[slab] == nullptr) continue;
      const double since = *moved[slab] - moved_then[slab];
      others = since > others ? since : others;
    }
    return (*moved[1] - moved_then[1]) + others <= skin;
  }

  DSEA_FN std::int64_t first_entry(std::int64_t i) const { return (i / group * stride) * group + i % group; }
};

/// The fields of a list while it is made.
struct NeighbourListOut {
  std::int32_t* number = nullptr;
  std::int32_t* entries = nullptr;
  double* moved_then = nullptr;  ///< three
  int stride = 0;

  DSEA_FN std::int64_t first_entry(std::int64_t i) const {
    return (i / NeighbourList::group * stride) * NeighbourList::group + i % NeighbourList::group;
  }
};

/// Sums for molecule i from its list.
template <class Law>
DSEA_FN inline PairSums list_sums(const Packed& packed, const PairTable& table, const NeighbourList& list,
                                  std::int64_t i) {
  const int n = list.number[i];
  if (n > list.stride) return plain_sums<Law>(packed, table, i);
  const int y = packed.cell_of(i) / packed.shape.nz;
  const AddPair<Law> add(table, packed.position[packed.own_base(y) + static_cast<std::int32_t>(i)]);
  PairSums sums;
  const std::int32_t* entry = list.entries + list.first_entry(i);
  for (int k = 0; k < n; ++k) add(sums, packed.position[entry[k * NeighbourList::group]]);
  return sums;
}

/// What the host needs besides to make lists fast: packed positions in single precision.
struct MakeListMemory {
  static constexpr int beyond = 8;  ///< places that may be read behind the last one

  float* x = nullptr;
  float* y = nullptr;
  float* z = nullptr;
  float reach2 = 0;  ///< larger than (cut-off + skin)^2 by what single precision may be wrong by
};

/// Makes the list of one molecule; i == 0 also notes how far slabs have moved.
struct ListMaker {
  static constexpr std::int64_t grain = 64;
  Packed packed;
  double reach2;  // (cut-off + skin)^2
  NeighbourListOut list;
  const double* moved[3];
  MakeListMemory memory;

  DSEA_FN void note_moved() const {
    for (int slab = 0; slab < 3; ++slab) list.moved_then[slab] = moved[slab] != nullptr ? *moved[slab] : 0.0;
  }

  DSEA_FN void operator()(std::int64_t i) const {
    if (i == 0) note_moved();
    const int cell = packed.cell_of(i);
    list.number[i] = find(i, cell / packed.shape.nz, cell % packed.shape.nz);
  }

  /// Number of neighbours of molecule i in cell (y, z); stores what fits.
  DSEA_FN int find(std::int64_t i, int y, int z) const {
    const std::int32_t self = packed.own_base(y) + static_cast<std::int32_t>(i);
    const Position own = packed.position[self];
    std::int32_t* entry = list.entries + list.first_entry(i);
    int n = 0;
    for (int number = 0; number < Packed::ranges; ++number) {
      const Range range = packed.around(y, z, number);
      for (std::int32_t j = range.begin; j < range.end; ++j) {
        const Position other = packed.position[j];
        const double dx = own.x - other.x;
        const double dy = own.y - other.y;
        const double dz = own.z - other.z;
        if (!(dx * dx + dy * dy + dz * dz < reach2) || j == self) continue;
        if (n < list.stride) entry[n * NeighbourList::group] = j;
        ++n;
      }
    }
    return n;
  }
};

}  // namespace dsea::md
