// Walking all molecules within reach of a molecule, in an order that the state alone determines.
//
// The order: slab offset -1, 0, +1; in each y-cell offset -1, 0, +1; in each z-cell offset -1, 0, +1; in a cell by id.
// With one or two cells along a periodic axis several offsets lead to the same cell with different shifts; as no
// periodic axis is shorter than the reach, every image within reach is met exactly once.
#pragma once

#include <cstdint>

#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"

namespace dsea::md {

/// The slabs i-1, i, i+1 as the molecules of slab i see them.
struct Surroundings {
  CellGrid grid;
  View<const Position> position[3];
  View<const std::int32_t> cells[3];
  double shift[3] = {0, 0, 0};  ///< to add to their x, in units of length
};

/// One step from a cell along an axis. False where there is no cell.
struct CellStep {
  int part = -1;
  double shift = 0;  ///< to add to the coordinates found there
  DSEA_FN explicit operator bool() const { return part >= 0; }
};

DSEA_FN inline CellStep cell_step(const Axis& axis, int part, int offset) {
  CellStep step{part + offset, 0};
  if (step.part < 0) {
    step.part = axis.periodic ? step.part + axis.parts : -1;
    step.shift = -axis.length;
  } else if (step.part >= axis.parts) {
    step.part = axis.periodic ? step.part - axis.parts : -1;
    step.shift = axis.length;
  }
  return step;
}

/// Calls visit(slab_offset + 1, begin, end, shift_x, shift_y, shift_z, home) for ranges of molecules that together hold
/// all within reach of cell (cell_y, cell_z) of the middle slab. `home`: the range holds the cell itself, unshifted.
/// Neighbouring cells along z lie one after the other in memory and are given as one range.
template <class Visit>
DSEA_FN inline void visit_ranges(const Surroundings& around, int cell_y, int cell_z, const Visit& visit) {
  const Axis& axis_y = around.grid.y;
  const Axis& axis_z = around.grid.z;
  const int parts_z = axis_z.parts;
  for (int slab = 0; slab < 3; ++slab) {
    const auto& cells = around.cells[slab];
    if (!cells) continue;
    for (int offset_y = -1; offset_y <= 1; ++offset_y) {
      const CellStep y = cell_step(axis_y, cell_y, offset_y);
      if (!y) continue;
      const std::int64_t row = static_cast<std::int64_t>(y.part) * parts_z;
      const bool middle = slab == 1 && offset_y == 0;
      if (cell_z > 0 && cell_z + 1 < parts_z) {
        visit(slab, cells[row + cell_z - 1], cells[row + cell_z + 2], around.shift[slab], y.shift, 0.0, middle);
        continue;
      }
      for (int offset_z = -1; offset_z <= 1; ++offset_z) {
        const CellStep z = cell_step(axis_z, cell_z, offset_z);
        if (!z) continue;
        visit(slab, cells[row + z.part], cells[row + z.part + 1], around.shift[slab], y.shift, z.shift,
              middle && offset_z == 0);
      }
    }
  }
}

}  // namespace dsea::md
