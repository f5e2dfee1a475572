// From contributions to a slab: molecules sorted by cell, within a cell by id.
//
// Since the last sorting a molecule has moved by at most one cell along y and z, so what a cell holds now was in its
// own or an adjoining old cell of one of the three regions. Every cell collects its molecules from these; nothing
// depends on who came first.
#pragma once

#include <cstdint>

#include "dsea/device/for_each.hpp"
#include "dsea/device/scan.hpp"
#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"

namespace dsea::md {

/// Work space for merging, in device memory.
struct MergeScratch {
  std::int32_t* cell[3] = {};      ///< for each region its capacity: the new cell of every molecule
  std::int32_t* number = nullptr;  ///< molecules of every cell
  std::uint32_t* order = nullptr;  ///< capacity of the slab: where the molecule at this place comes from
  void* scan = nullptr;            ///< exclusive_scan_scratch_bytes(cells)
};

inline namespace DSEA_KERNEL_NAMESPACE {

namespace detail {

struct FindCell {
  View<const Position> position;
  CellGrid grid;
  std::int32_t* cell;
  DSEA_FN void operator()(std::int64_t i) const { cell[i] = grid.cell(position[i].y, position[i].z); }
};

/// The distinct parts of an axis at distance 0 or 1 from `part`, through the seam too; rising order is not needed.
struct Adjoining {
  int parts[3] = {0, 0, 0};
  int number = 0;

  DSEA_FN Adjoining(const Axis& axis, int part) {
    for (int offset = -1; offset <= 1; ++offset) {
      int p = part + offset;
      if (p < 0 || p >= axis.parts) {
        if (!axis.periodic) continue;
        p += p < 0 ? axis.parts : -axis.parts;
      }
      bool seen = false;
      for (int k = 0; k < number; ++k) seen = seen || parts[k] == p;
      if (!seen) parts[number++] = p;
    }
  }
};

/// What the kernels over the new cells share.
struct Regions {
  MoleculesIn from[3];
  const std::int32_t* cell[3];
  CellGrid grid;

  /// take(region, j) for every molecule j of a region that is in new cell c.
  template <class Take>
  DSEA_FN void collect(std::int64_t c, Take& take) const {
    const auto home = static_cast<std::int32_t>(c);
    const Adjoining y(grid.y, home / grid.z.parts);
    const Adjoining z(grid.z, home % grid.z.parts);
    for (int region = 0; region < 3; ++region) {
      if (!from[region]) continue;
      const auto& cells = from[region].cells;
      const auto count = static_cast<std::int32_t>(from[region].position.count());
      for (int a = 0; a < y.number; ++a) {
        for (int b = 0; b < z.number; ++b) {
          const std::int64_t old = static_cast<std::int64_t>(y.parts[a]) * grid.z.parts + z.parts[b];
          const std::int32_t end = cells[old + 1] < count ? cells[old + 1] : count;
          for (std::int32_t j = cells[old]; j < end; ++j) {
            if (cell[region][j] == home) take(region, j);
          }
        }
      }
    }
  }
};

struct TakeNumber {
  std::int32_t n = 0;
  DSEA_FN void operator()(int, std::int32_t) { ++n; }
};

struct CountCell {
  static constexpr std::int64_t grain = 256;
  Regions regions;
  std::int32_t* number;
  DSEA_FN void operator()(std::int64_t c) const {
    TakeNumber take;
    regions.collect(c, take);
    number[c] = take.n;
  }
};

inline constexpr std::uint32_t place_bits = 30;

/// Inserts what it is given by its id.
struct TakeSorted {
  const Regions& regions;
  std::uint32_t* order;
  std::int64_t room;
  std::int64_t n = 0;

  DSEA_FN std::int64_t id(std::uint32_t place) const {
    return regions.from[place >> place_bits].id[place & ((1U << place_bits) - 1)];
  }
  DSEA_FN void operator()(int region, std::int32_t j) {
    if (n >= room) return;
    const std::uint32_t place = (static_cast<std::uint32_t>(region) << place_bits) | static_cast<std::uint32_t>(j);
    const std::int64_t mine = id(place);
    std::int64_t at = n++;
    for (; at > 0 && id(order[at - 1]) > mine; --at) order[at] = order[at - 1];
    order[at] = place;
  }
};

/// Puts the molecules of each new cell in order; the first cell sets the counts.
struct SortCell {
  static constexpr std::int64_t grain = 256;
  Regions regions;
  MoleculesOut to;
  std::uint32_t* order;
  std::int64_t cells;

  DSEA_FN void operator()(std::int64_t c) const {
    const std::int64_t first = to.cells[c];
    if (first < to.position.capacity) {
      TakeSorted take{regions, order + first, to.position.capacity - first};
      regions.collect(c, take);
    }
    if (c != 0) return;
    to.position.set_count(to.cells[cells]);
    to.velocity.set_count(to.cells[cells]);
    to.id.set_count(to.cells[cells]);
  }
};

struct Gather {
  MoleculesIn from[3];
  const std::uint32_t* order;
  MoleculesOut to;
  DSEA_FN void operator()(std::int64_t i) const {
    const MoleculesIn& region = from[order[i] >> place_bits];
    const std::int64_t j = order[i] & ((1U << place_bits) - 1);
    to.position[i] = region.position[j];
    to.velocity[i] = region.velocity[j];
    to.id[i] = region.id[j];
  }
};

}  // namespace detail

/// Merges the regions from slabs i-1, i, i+1 (false where there is none). Counts above a capacity are set as needed, so
/// that the framework notices; what does not fit is not written.
inline void merge_regions(Stream& stream, const CellGrid& grid, const MoleculesIn (&from)[3], const MoleculesOut& to,
                          const MergeScratch& scratch) {
  detail::Regions regions{{from[0], from[1], from[2]}, {scratch.cell[0], scratch.cell[1], scratch.cell[2]}, grid};
  for (int r = 0; r < 3; ++r) {
    if (from[r]) {
      for_each(stream, from[r].position.live(), detail::FindCell{from[r].position, grid, scratch.cell[r]});
    }
  }
  const std::int64_t cells = grid.cells();
  for_each(stream, cells, detail::CountCell{regions, scratch.number});
  exclusive_scan(stream, scratch.number, to.cells.data, cells, scratch.scan);
  for_each(stream, cells, detail::SortCell{regions, to, scratch.order, cells});
  for_each(stream, to.position.live(), detail::Gather{{from[0], from[1], from[2]}, scratch.order, to});
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea::md
