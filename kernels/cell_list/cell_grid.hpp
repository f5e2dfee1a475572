// The box, cut into slabs along the internal x axis and each slab into cells along y and z.
#pragma once

#include <cstdint>
#include <string>

#include "dsea/base/macros.hpp"

namespace dsea::md {

/// One axis of the box, cut into equal parts. Positions on a periodic axis lie in [lo, hi), on a
/// mirror axis in [lo, hi]. The part is a function of the position alone and does not decrease with it.
struct Axis {
  double lo = 0;
  double hi = 1;
  double length = 1;
  double per_part = 1;  ///< parts / length
  int parts = 1;
  bool periodic = true;

  DSEA_FN int part(double x) const {
    const int p = static_cast<int>((x - lo) * per_part);
    return p < parts ? p : parts - 1;
  }

  /// How far a position lies outside a part; 0 inside.
  DSEA_FN double strays(double x, int part) const {
    return outside(x, lo + part / per_part, lo + (part + 1) / per_part);
  }
  DSEA_FN static double outside(double x, double first, double last) {
    const double below = first - x;
    const double beyond = x - last;
    const double most = below > beyond ? below : beyond;
    return most > 0 ? most : 0;
  }

  /// Brings a position that has moved by less than a box length back into the box: through the seam, counted in
  /// `boxes` (+1: left at hi), or by reflection at the wall, which turns the velocity. False if it moved too far.
  DSEA_FN bool settle(double& x, double& v, int& boxes) const {
    boxes = 0;
    if (periodic) {
      if (x >= hi) {
        x -= length;
        boxes = 1;
        if (x < lo) x = lo;  // hi - length need not be lo to the last bit
      } else if (x < lo) {
        x += length;
        boxes = -1;
        if (x >= hi) {  // so close below lo that the sum was rounded up to the seam
          x = lo;
          boxes = 0;
        }
      }
      return x < hi && x >= lo;
    }
    if (x < lo) {
      x = lo + (lo - x);
      v = -v;
    } else if (x > hi) {
      x = hi - (x - hi);
      v = -v;
    }
    return x <= hi && x >= lo;
  }
};

/// The stream axis: its parts are slabs, which may be of unequal width.
struct SlabAxis : Axis {
  const double* edges = nullptr;  ///< parts + 1 places from lo to hi, where slabs begin and end; null: equal widths

  SlabAxis() = default;
  explicit SlabAxis(const Axis& equal) : Axis(equal) {}
  /// Slabs with these edges, which the caller keeps alive: in device memory for kernels on a device.
  SlabAxis(const Axis& box, const double* where, int slabs) : Axis(box), edges(where) { parts = slabs; }

  DSEA_FN int part(double at) const {
    if (edges == nullptr) return Axis::part(at);
    int first = 0, last = parts - 1;  // of the parts it may be
    while (first < last) {
      const int middle = first + (last - first + 1) / 2;
      if (at < edges[middle])
        last = middle - 1;
      else
        first = middle;
    }
    return first;
  }

  /// How far a position lies outside a part; 0 inside.
  DSEA_FN double strays(double at, int part) const {
    return edges == nullptr ? Axis::strays(at, part) : outside(at, edges[part], edges[part + 1]);
  }

  /// Width of a slab. On the host: edges must be there.
  double width(int part) const { return edges == nullptr ? length / parts : edges[part + 1] - edges[part]; }
};

struct CellGrid {
  SlabAxis x;
  Axis y;  ///< parts are cells
  Axis z;

  DSEA_FN int slabs() const { return x.parts; }
  DSEA_FN int cells() const { return y.parts * z.parts; }  ///< of one slab
  DSEA_FN int cell(double py, double pz) const { return y.part(py) * z.parts + z.part(pz); }
  double volume() const { return x.length * y.length * z.length; }
};

/// An axis whose parts are at least `reach` wide, as many as fit. Throws UsageError if the axis is periodic and shorter
/// than the cut-off, or just as long: then a molecule would interact with its own image. `name` is for that message.
Axis make_axis(double lo, double hi, bool periodic, double cutoff, double reach, const std::string& name);

/// Makes the slabs of a thinly filled long box wider, so that there are not many more slabs than molecules.
void limit_slabs(CellGrid& grid, std::int64_t molecules);

/// Makes the cells of a thinly filled box larger, so that there are not many more cells than molecules.
void limit_cells(CellGrid& grid, std::int64_t molecules);

}  // namespace dsea::md
