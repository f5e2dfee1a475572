// The positions that a slab's molecules may interact with, as one array: the slab, its two neighbours and what lies
// beyond the seams of y and z, each shifted to where it is seen from the slab.
//
// Nothing behind this point knows of seams, and a neighbour is one index. The array consists of rows: for each of the
// slabs i-1, i, i+1 and each row of cells y = -1 .. ny (rows -1 and ny are images, or empty at a wall) the molecules of
// the row's cells, in order of z, with the images of the cells at both ends. So the cells z-1, z, z+1 of a row follow
// each other, and the surroundings of a cell are nine ranges: the order in which every sum over neighbours runs.
//
// Molecules stay where they are in their slabs between two sortings, and so do the rows.
#pragma once

#include <cstdint>
#include <cstring>

#include "dsea/device/for_each.hpp"
#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"

namespace dsea::md {

/// Slabs i-1, i, i+1: false where there is none. `shift`: to add to their x.
struct Surroundings {
  View<const Position> position[3];
  View<const std::int32_t> cells[3];
  double shift[3] = {0, 0, 0};
};

/// Places [begin, end) of a packed array.
struct Range {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// How a packed array of a grid is cut into rows; all that depends on the configuration only.
struct PackedShape {
  int ny = 1;
  int nz = 1;
  bool periodic_y = true;
  bool periodic_z = true;
  double length_y = 1;
  double length_z = 1;

  PackedShape() = default;
  explicit PackedShape(const CellGrid& grid)
      : ny(grid.y.parts),
        nz(grid.z.parts),
        periodic_y(grid.y.periodic),
        periodic_z(grid.z.periodic),
        length_y(grid.y.length),
        length_z(grid.z.length) {}

  DSEA_FN int rows() const { return 3 * (ny + 2); }
  DSEA_FN int row(int slab, int y) const { return slab * (ny + 2) + y + 1; }

  /// The row of cells that is seen as row y (-1 .. ny), or -1 behind a wall; `shift`: to add to its y.
  DSEA_FN int source_row(int y, double& shift) const {
    shift = 0;
    if (y >= 0 && y < ny) return y;
    if (!periodic_y) return -1;
    shift = y < 0 ? -length_y : length_y;
    return y < 0 ? ny - 1 : 0;
  }

  /// Places that the packed array of slabs of `capacity` molecules may need, the last one for the far-away molecule.
  std::int64_t capacity(std::int64_t slab_capacity) const {
    const std::int64_t images_y = periodic_y ? (ny == 1 ? 3 : 2) : 1;  // at worst all are in the rows at the ends
    const std::int64_t images_z = periodic_z ? (nz == 1 ? 3 : 2) : 1;
    return 3 * slab_capacity * images_y * images_z + 1;
  }
};

/// A packed array, for kernels.
struct Packed {
  PackedShape shape;
  const Position* position = nullptr;
  const std::int32_t* rows = nullptr;  ///< first place of every row, and the end of the last
  const std::int32_t* cells[3] = {};   ///< of slabs i-1, i, i+1; null where there is none

  /// The place of a molecule that interacts with nobody, behind the last row.
  DSEA_FN std::int32_t far_away() const { return rows[shape.rows()]; }

  /// Molecules of the cells z-1, z, z+1 in row y (-1 .. ny) of slab 0, 1 or 2; none where there is no slab.
  DSEA_FN Range range(int slab, int y, int z) const {
    const std::int32_t first = rows[shape.row(slab, y)];
    const std::int32_t last = rows[shape.row(slab, y) + 1];
    if (first == last) return {};
    double unused;
    const std::int32_t* row = cells[slab] + static_cast<std::int64_t>(shape.source_row(y, unused)) * shape.nz;
    const std::int32_t base = first + images_below(row) - row[0];
    return {z > 0 ? base + row[z - 1] : first, z + 1 < shape.nz ? base + row[z + 2] : last};
  }

  static constexpr int ranges = 9;

  /// Range 0 .. 8 around cell (y, z) of the middle slab, itself among them: in the order in which all sums and lists
  /// run.
  DSEA_FN Range around(int y, int z, int number) const { return range(number / 3, y - 1 + number % 3, z); }

  /// Where molecule 0 of the middle slab would be if all its rows looked like row y: add a molecule's place in the
  /// slab.
  DSEA_FN std::int32_t own_base(int y) const {
    const std::int32_t* row = cells[1] + static_cast<std::int64_t>(y) * shape.nz;
    return rows[shape.row(1, y)] + images_below(row) - row[0];
  }

  /// The cell of molecule i of the middle slab.
  DSEA_FN int cell_of(std::int64_t i) const {
    const std::int32_t* offsets = cells[1];
    int low = 0;
    int high = shape.ny * shape.nz;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (offsets[middle] <= i)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

 private:
  DSEA_FN std::int32_t images_below(const std::int32_t* row) const {
    return shape.periodic_z ? row[shape.nz] - row[shape.nz - 1] : 0;
  }
};

inline namespace DSEA_KERNEL_NAMESPACE {

namespace detail {

/// First places of the rows, by one thread.
struct FindRows {
  PackedShape shape;
  View<const std::int32_t> cells[3];
  std::int32_t* rows;

  DSEA_FN void operator()(std::int64_t) const {
    std::int32_t next = 0;
    for (int slab = 0; slab < 3; ++slab) {
      for (int y = -1; y <= shape.ny; ++y) {
        rows[shape.row(slab, y)] = next;
        double unused;
        const int from = shape.source_row(y, unused);
        if (from < 0 || !cells[slab]) continue;
        const std::int32_t* row = cells[slab].data + static_cast<std::int64_t>(from) * shape.nz;
        next += row[shape.nz] - row[0];
        if (shape.periodic_z) next += (row[shape.nz] - row[shape.nz - 1]) + (row[1] - row[0]);
      }
    }
    rows[shape.rows()] = next;
  }
};

/// Copies one cell, or image of a cell, to its place. There are rows x (nz + 2) of them.
struct PackCell {
  static constexpr std::int64_t grain = 64;
  PackedShape shape;
  Surroundings around;
  const std::int32_t* rows;
  Position* to;

  DSEA_FN void operator()(std::int64_t i) const {
    const int row = static_cast<int>(i / (shape.nz + 2));
    const int z = static_cast<int>(i % (shape.nz + 2)) - 1;
    if (i == 0) to[rows[shape.rows()]] = {1e30, 1e30, 1e30, 0};
    const bool image = z < 0 || z == shape.nz;
    if (rows[row] == rows[row + 1] || (image && !shape.periodic_z)) return;
    const int slab = row / (shape.ny + 2);
    double shift_y;
    const int from_row = shape.source_row(row % (shape.ny + 2) - 1, shift_y);
    const std::int32_t* cells = around.cells[slab].data + static_cast<std::int64_t>(from_row) * shape.nz;
    const Position* source = around.position[slab].data;
    const double shift_x = around.shift[slab];
#if !defined(__CUDA_ARCH__)
    if (!image && shift_x == 0 && shift_y == 0) {  // a whole row at once
      const std::int32_t images = shape.periodic_z ? cells[shape.nz] - cells[shape.nz - 1] : 0;
      if (z == 0) memcpy(to + rows[row] + images, source + cells[0], sizeof(Position) * (cells[shape.nz] - cells[0]));
      return;
    }
#endif
    const std::int32_t below = shape.periodic_z ? cells[shape.nz] - cells[shape.nz - 1] : 0;
    const int from = z < 0 ? shape.nz - 1 : (z == shape.nz ? 0 : z);
    const double shift_z = z < 0 ? -shape.length_z : (z == shape.nz ? shape.length_z : 0.0);
    std::int32_t at = rows[row];
    if (z >= 0) at += below + (z == shape.nz ? cells[shape.nz] : cells[z]) - cells[0];
    for (std::int32_t j = cells[from]; j < cells[from + 1]; ++j, ++at) {
      const Position p = source[j];
      to[at] = {p.x + shift_x, p.y + shift_y, p.z + shift_z, p.tag};
    }
  }
};

}  // namespace detail

/// Finds the rows: needed once between two sortings. rows: shape.rows() + 1 places.
inline void find_rows(Stream& stream, const PackedShape& shape, const Surroundings& around, std::int32_t* rows) {
  for_each(stream, 1, detail::FindRows{shape, {around.cells[0], around.cells[1], around.cells[2]}, rows});
}

/// Copies the positions to `to`, which has room for shape.capacity() of them.
inline Packed pack(Stream& stream, const PackedShape& shape, const Surroundings& around, const std::int32_t* rows,
                   Position* to) {
  for_each(stream, static_cast<std::int64_t>(shape.rows()) * (shape.nz + 2), detail::PackCell{shape, around, rows, to});
  return {shape, to, rows, {around.cells[0].data, around.cells[1].data, around.cells[2].data}};
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea::md
