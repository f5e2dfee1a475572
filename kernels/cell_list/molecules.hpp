// What a slab of molecules consists of, and how it lies in memory.
//
// Axes are internal ones: axis 0 (x) is the stream axis; y and z are the user's other two in their order.
// Every so many steps the molecules of a slab are sorted by cell (y-cell major, z-cell minor), within a cell by id, and
// go to the slab they are in; at that step their order is a function of the state. Until the next sorting they keep
// their places, and may leave their cell and slab by a little (the margin that cells are wider than the cut-off for).
// 64 bytes a molecule travel: 32 position and tag, 24 velocity, 8 id.
#pragma once

#include <cstdint>

#include "dsea/base/macros.hpp"
#include "dsea/slice/layout.hpp"
#include "dsea/slice/view.hpp"

namespace dsea::md {

/// A position and a tag that packs what else belongs to the place: bits 0-15 the type (from 1), then 16 bits (two's
/// complement, they wrap around) for each axis: how many box lengths the molecule has travelled through the seam.
struct alignas(16) Position {
  double x, y, z;
  std::uint64_t tag;
};

struct Velocity {
  double x, y, z;
};

DSEA_FN inline std::uint64_t make_tag(int type, int image_x, int image_y, int image_z) {
  return (static_cast<std::uint64_t>(static_cast<std::uint16_t>(type))) |
         (static_cast<std::uint64_t>(static_cast<std::uint16_t>(image_x)) << 16) |
         (static_cast<std::uint64_t>(static_cast<std::uint16_t>(image_y)) << 32) |
         (static_cast<std::uint64_t>(static_cast<std::uint16_t>(image_z)) << 48);
}

DSEA_FN inline int tag_type(std::uint64_t tag) { return static_cast<int>(tag & 0xffff); }

/// axis 0, 1 or 2.
DSEA_FN inline int tag_image(std::uint64_t tag, int axis) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(tag >> (16 * (axis + 1))));
}

/// The tag of the same molecule after `boxes` more box lengths along each axis.
DSEA_FN inline std::uint64_t tag_moved(std::uint64_t tag, int boxes_x, int boxes_y, int boxes_z) {
  return make_tag(tag_type(tag), tag_image(tag, 0) + boxes_x, tag_image(tag, 1) + boxes_y, tag_image(tag, 2) + boxes_z);
}

/// The fields of a slab.
struct MoleculeFields {
  Field<Position> position;
  Field<Velocity> velocity;
  Field<std::int64_t> id;
  Field<std::int32_t> cells;  ///< first molecule of every cell, and at the end the number of molecules
  Field<double> moved;        ///< one number: no molecule has moved further since they were sorted

  /// Adds the fields to a layout: room for `capacity` molecules and `cell_count` cells a slab.
  static MoleculeFields add_to(SliceLayout& layout, std::int64_t capacity, std::int64_t cell_count) {
    return {layout.list<Position>("position", capacity), layout.list<Velocity>("velocity", capacity),
            layout.list<std::int64_t>("id", capacity), layout.grid<std::int32_t>("cells", cell_count + 1),
            layout.grid<double>("moved", 1)};
  }
};

/// Views of these fields in one slab. False where the slab does not exist.
template <bool writable>
struct Molecules {
  template <class T>
  using Of = View<std::conditional_t<writable, T, const T>>;

  Of<Position> position;
  Of<Velocity> velocity;
  Of<std::int64_t> id;
  Of<std::int32_t> cells;

  Molecules() = default;
  Molecules(const SlabView<writable>& slab, const MoleculeFields& fields)
      : position(slab[fields.position]),
        velocity(slab[fields.velocity]),
        id(slab[fields.id]),
        cells(slab[fields.cells]) {}

  DSEA_FN explicit operator bool() const { return static_cast<bool>(position); }
};

using MoleculesIn = Molecules<false>;
using MoleculesOut = Molecules<true>;

}  // namespace dsea::md
