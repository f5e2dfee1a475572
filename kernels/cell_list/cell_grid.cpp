#include "kernels/cell_list/cell_grid.hpp"

#include <algorithm>
#include <cmath>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::md {

namespace {

void cut(Axis& axis, int parts) {
  axis.parts = parts;
  axis.per_part = parts / axis.length;
}

}  // namespace

Axis make_axis(double lo, double hi, bool periodic, double cutoff, double reach, const std::string& name) {
  Axis axis;
  axis.lo = lo;
  axis.hi = hi;
  axis.length = hi - lo;
  axis.periodic = periodic;
  // By more than coordinates are rounded, else a molecule might see its own image at just the cut-off.
  if (periodic && axis.length < cutoff * (1 + 1e-9)) {
    throw UsageError(cat("the box is too small: its periodic axis ", name, " is ", axis.length,
                         " long, not more than the cut-off ", cutoff,
                         ", so that molecules would see their own images; ", "take a larger box or a smaller cut-off"));
  }
  constexpr double most = 1 << 24;
  auto parts = static_cast<int>(std::clamp(std::floor(axis.length / reach), 1.0, most));
  while (parts > 1 && parts * reach > axis.length) --parts;
  cut(axis, parts);
  return axis;
}

void limit_slabs(CellGrid& grid, std::int64_t molecules) {
  const std::int64_t most = std::max<std::int64_t>(1000, molecules);
  if (grid.x.parts > most) cut(grid.x, static_cast<int>(most));
}

void limit_cells(CellGrid& grid, std::int64_t molecules) {
  const double most = std::max(9.0, static_cast<double>(molecules) / grid.slabs());
  const double cells = static_cast<double>(grid.y.parts) * grid.z.parts;
  if (cells <= most) return;
  const double factor = std::sqrt(most / cells);
  for (Axis* axis : {&grid.y, &grid.z}) cut(*axis, std::max(1, static_cast<int>(axis->parts * factor)));
  // one axis may have been too short to give its share
  const auto limit = static_cast<int>(most);
  if (grid.y.parts > limit / grid.z.parts) cut(grid.y, std::max(1, limit / grid.z.parts));
  if (grid.z.parts > limit / grid.y.parts) cut(grid.z, std::max(1, limit / grid.y.parts));
}

}  // namespace dsea::md
