// From moved molecules to contributions: each molecule goes to the region of the slab it is in now.
//
// Within a region molecules keep the order they had in their old slab, and the region carries the offsets of its old
// cells, so that merging need not search. No atomics, and every region is a function of the state.
#pragma once

#include <cstdint>

#include "dsea/device/for_each.hpp"
#include "dsea/device/scan.hpp"
#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"

namespace dsea::md {

/// Work space for `capacity` molecules of a slab, in device memory. Positions and velocities are those after the step,
/// still at the molecules' old places.
struct MigrateScratch {
  Position* position = nullptr;
  Velocity* velocity = nullptr;
  std::int32_t* up = nullptr;    ///< capacity + 1: first 1 for molecules that go to slab i+1, then where they go
  std::int32_t* down = nullptr;  ///< the same for slab i-1
  void* scan = nullptr;          ///< scan_bytes(capacity), for both scans, one after the other
  static std::size_t scan_bytes(std::int64_t capacity) { return exclusive_scan_scratch_bytes(capacity); }
};

inline namespace DSEA_KERNEL_NAMESPACE {

namespace detail {

/// Brings molecule i back into the box, through the seams, and marks whether it goes up or down; for all places up to
/// the capacity. That nobody goes further than to the next slab and cell is checked before (detail::AddMoved).
struct Settle {
  MoleculesIn from;
  CellGrid grid;
  int slab;
  MigrateScratch scratch;

  DSEA_FN void operator()(std::int64_t i) const {
    int step = 0;
    if (i < from.position.count()) {
      Position& p = scratch.position[i];
      Velocity& v = scratch.velocity[i];
      int boxes_x, boxes_y, boxes_z;
      grid.x.settle(p.x, v.x, boxes_x);
      grid.y.settle(p.y, v.y, boxes_y);
      grid.z.settle(p.z, v.z, boxes_z);
      p.tag = tag_moved(p.tag, boxes_x, boxes_y, boxes_z);
      step = grid.x.part(p.x) + boxes_x * grid.x.parts - slab;
    }
    scratch.up[i] = step > 0 ? 1 : 0;
    scratch.down[i] = step < 0 ? 1 : 0;
  }
};

/// Copies molecule i to its region.
struct Distribute {
  MoleculesIn from;
  MigrateScratch scratch;
  MoleculesOut to[3];

  DSEA_FN void operator()(std::int64_t i) const {
    const std::int32_t up = scratch.up[i];
    const std::int32_t down = scratch.down[i];
    if (scratch.up[i + 1] != up) return put(to[2], i, up);
    if (scratch.down[i + 1] != down) return put(to[0], i, down);
    put(to[1], i, i - up - down);
  }

  DSEA_FN void put(const MoleculesOut& region, std::int64_t i, std::int64_t at) const {
    if (at >= region.position.capacity) return;  // the count tells
    region.position[at] = scratch.position[i];
    region.velocity[at] = scratch.velocity[i];
    region.id[at] = from.id[i];
  }
};

/// Offsets of old cell c in the three regions; the last one sets the counts.
struct CutRegions {
  MoleculesIn from;
  const std::int32_t* up;
  const std::int32_t* down;
  MoleculesOut to[3];
  std::int64_t cells;

  DSEA_FN void operator()(std::int64_t c) const {
    const std::int32_t first = from.cells[c];
    put(to[0], c, down[first]);
    put(to[1], c, first - up[first] - down[first]);
    put(to[2], c, up[first]);
  }

  DSEA_FN void put(const MoleculesOut& region, std::int64_t c, std::int32_t first) const {
    if (!region) return;
    region.cells[c] = first;
    if (c != cells) return;
    region.position.set_count(first);
    region.velocity.set_count(first);
    region.id.set_count(first);
  }
};

}  // namespace detail

/// Fills the regions of slabs i-1, i, i+1 (false where there is no slab) with the molecules of slab `slab`, whose
/// positions and velocities after the step are in the scratch.
inline void distribute(Stream& stream, const CellGrid& grid, int slab, const MoleculesIn& from,
                       const MoleculesOut (&to)[3], const MigrateScratch& scratch) {
  const std::int64_t capacity = from.position.capacity;
  for_each(stream, capacity, detail::Settle{from, grid, slab, scratch});
  exclusive_scan(stream, scratch.up, scratch.up, capacity, scratch.scan);
  exclusive_scan(stream, scratch.down, scratch.down, capacity, scratch.scan);
  const std::int64_t cells = from.cells.capacity - 1;
  for_each(stream, cells + 1, detail::CutRegions{from, scratch.up, scratch.down, {to[0], to[1], to[2]}, cells});
  for_each(stream, from.position.live(), detail::Distribute{from, scratch, {to[0], to[1], to[2]}});
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea::md
