#include "kernels/md/start.hpp"

#include <algorithm>
#include <cmath>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "kernels/md/slab_widths.hpp"

namespace dsea::md {

namespace {

/// The stream axis first, the others in their order.
std::array<int, 3> order_axes(const std::string& stream, const std::array<double, 3>& lo,
                              const std::array<double, 3>& hi) {
  int first = 0;
  if (stream == "longest") {
    for (int axis = 1; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const auto f = static_cast<std::size_t>(first);
      if (hi[a] - lo[a] > hi[f] - lo[f]) first = axis;
    }
  } else {
    first = stream[0] - 'x';
  }
  std::array<int, 3> axes{first, 0, 0};
  std::size_t next = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (axis != first) axes[next++] = axis;
  }
  return axes;
}

}  // namespace

Start::Start(const Settings& settings)
    : settings_(settings),
      source_(settings.lattice.empty() ? open_file_source(settings) : open_lattice_source(settings)),
      periodic_(settings.periodic),
      axes_(order_axes(settings.stream, source_->lo(), source_->hi())) {}

std::array<double, 3> Start::lengths() const {
  const auto lo = source_->lo();
  const auto hi = source_->hi();
  return {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]};
}

void Start::cut(double cutoff, double reach) {
  const auto lo = source_->lo();
  const auto hi = source_->hi();
  const auto axis = [&](std::size_t k) {
    const auto a = static_cast<std::size_t>(axes_[k]);
    return make_axis(lo[a], hi[a], periodic_[a], cutoff, reach, std::string(1, "xyz"[a]));
  };
  try {
    grid_ = {SlabAxis(axis(0)), axis(1), axis(2)};
  } catch (const UsageError& e) {
    settings_.origin.fail(settings_.start_key(), e.what());
  }
  limit_slabs(grid_, molecules());
  if (const auto edges = choose_slabs(settings_, grid_, reach, counter()); !edges.empty()) {
    slab_edges_ = Table<double>(edges);
    grid_.x = SlabAxis(grid_.x, &slab_edges_.host(0), static_cast<int>(edges.size()) - 1);
  }
  limit_cells(grid_, molecules());
  const auto counts = distribute(grid_);
  most_ = *std::max_element(counts.begin(), counts.end());
  highest_density_ = 0;
  for (int slab = 0; slab < grid_.slabs(); ++slab) {
    const double volume = grid_.x.width(slab) * grid_.y.length * grid_.z.length;
    highest_density_ = std::max(highest_density_, static_cast<double>(counts[static_cast<std::size_t>(slab)]) / volume);
  }
}

std::vector<std::int64_t> Start::distribute(const CellGrid& grid) const {
  try {
    return source_->distribute(grid, axes_);
  } catch (const UsageError& e) {
    settings_.origin.fail(settings_.start_key(), e.what());
  }
}

CountMolecules Start::counter() const {
  return [this](const Axis& parts) { return distribute({SlabAxis(parts), grid_.y, grid_.z}); };
}

std::vector<StartMolecule> Start::slab(int slab) const {
  std::vector<StartMolecule> molecules = source_->slab(slab);
  const auto key = [this](const StartMolecule& m) { return grid_.cell(m.position.y, m.position.z); };
  std::sort(molecules.begin(), molecules.end(), [&key](const StartMolecule& a, const StartMolecule& b) {
    const int cell_a = key(a);
    const int cell_b = key(b);
    return cell_a != cell_b ? cell_a < cell_b : a.id < b.id;
  });
  return molecules;
}

void Start::fill(int slab, const MoleculesOut& out) const {
  const std::vector<StartMolecule> molecules = this->slab(slab);
  const auto n = static_cast<std::int64_t>(molecules.size());
  if (n > out.position.capacity) {
    throw RunError(cat("slab ", slab, " has ", n, " molecules at the start, but room for ", out.position.capacity));
  }
  std::int64_t cell = 0;  // the next one whose offset is not written yet
  for (std::int64_t i = 0; i < n; ++i) {
    const StartMolecule& m = molecules[static_cast<std::size_t>(i)];
    for (const int own = grid_.cell(m.position.y, m.position.z); cell <= own; ++cell) {
      out.cells[cell] = static_cast<std::int32_t>(i);
    }
    out.position[i] = m.position;
    out.velocity[i] = m.velocity;
    out.id[i] = m.id;
  }
  for (; cell <= grid_.cells(); ++cell) out.cells[cell] = static_cast<std::int32_t>(n);
  out.position.set_count(n);
  out.velocity.set_count(n);
  out.id.set_count(n);
}

std::int64_t slab_capacity(std::int64_t most_in_a_slab, double spare, std::int64_t molecules) {
  const auto n = static_cast<double>(most_in_a_slab);
  const double wanted = n * (1.0 + spare) + 6.0 * std::sqrt(n) + 32.0;
  constexpr double limit = 1 << 30;  // offsets and places have 32 bits
  const double room = std::max(1.0, std::min(wanted, static_cast<double>(molecules)));
  if (room >= limit) {
    throw UsageError(cat("the fullest slab has ", most_in_a_slab,
                         " molecules, more than a slab can hold (2^30): choose a longer stream axis (ring.stream)"));
  }
  return static_cast<std::int64_t>(room);
}

}  // namespace dsea::md
