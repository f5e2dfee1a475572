// Molecules on a lattice: each slab is made when it is asked for.
#include <cmath>
#include <mutex>
#include <optional>

#include "kernels/md/source.hpp"
#include "kernels/md/velocity_draw.hpp"

namespace dsea::md {

namespace {

using Triple = std::array<double, 3>;

/// Places in a cell in units of its edge; kept off its faces, so that none lies on a seam or a wall.
std::vector<Triple> basis_of(const std::string& lattice) {
  if (lattice == "sc") return {{0.5, 0.5, 0.5}};
  return {{0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}};
}

/// Types at random: a molecule's type is a function of its id.
class TypeDraw {
 public:
  TypeDraw() = default;
  TypeDraw(std::uint64_t seed, const std::vector<double>& fractions) : seed_(seed) {
    double sum = 0;
    for (double f : fractions) below_.push_back(sum += f);
    for (double& b : below_) b /= sum;
  }
  int operator()(std::int64_t id) const {
    if (below_.size() < 2) return 1;
    const auto wide = static_cast<std::uint64_t>(id);
    const Philox4 bits = philox4x32({{static_cast<std::uint32_t>(wide), static_cast<std::uint32_t>(wide >> 32), 0, 1}},
                                    static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
    const double u = (bits.word[0] + 0.5) * 0x1p-32;
    std::size_t type = 0;
    while (type + 1 < below_.size() && u >= below_[type]) ++type;
    return static_cast<int>(type) + 1;
  }

 private:
  std::uint64_t seed_ = 0;
  std::vector<double> below_;
};

/// Every process draws all velocities once to make their sum zero, so more would take hours before the first step.
constexpr double most_molecules = 1e10;

/// From here on that takes so long that it is announced.
constexpr std::int64_t many_molecules = 10'000'000;

class LatticeSource final : public MoleculeSource {
 public:
  explicit LatticeSource(const Settings& settings) : basis_(basis_of(settings.lattice)), cells_(settings.cells) {
    // In floating point: the product may exceed 64 bits.
    const double wanted = static_cast<double>(basis_.size()) * cells_[0] * cells_[1] * cells_[2];
    if (wanted > most_molecules) {
      settings.origin.fail("system.cells", cat("a lattice of ", wanted, " molecules is more than the ", most_molecules,
                                               " that a start can be made of: use fewer cells"));
    }
    edge_ = std::cbrt(static_cast<double>(basis_.size()) / settings.density);
    masses_ = settings.masses.empty() ? std::vector<double>(settings.fractions.size(), 1.0) : settings.masses;
    types_ = TypeDraw(settings.seed, settings.fractions);
    temperature_ = settings.temperature;
    seed_ = settings.seed;
    origin_ = settings.origin;
  }

  std::int64_t molecules() const override {
    return static_cast<std::int64_t>(basis_.size()) * cells_[0] * cells_[1] * cells_[2];
  }
  Triple lo() const override { return {0, 0, 0}; }
  Triple hi() const override { return {cells_[0] * edge_, cells_[1] * edge_, cells_[2] * edge_}; }
  const std::vector<double>& masses() const override { return masses_; }
  double temperature() const override { return temperature_; }

  std::vector<std::int64_t> distribute(const CellGrid& grid, const std::array<int, 3>& axes) override {
    grid_ = grid;
    axes_ = axes;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.slabs()));
    const auto stream = static_cast<std::size_t>(axes[0]);
    const std::int64_t in_a_layer = molecules() / static_cast<std::int64_t>(basis_.size()) / cells_[stream];
    for (int layer = 0; layer < cells_[stream]; ++layer) {
      for (const Triple& b : basis_) counts[static_cast<std::size_t>(slab_of(layer, b))] += in_a_layer;
    }
    return counts;
  }

  std::vector<StartMolecule> slab(int slab) const override {
    std::vector<StartMolecule> result;
    const auto stream = static_cast<std::size_t>(axes_[0]);
    for (int layer = 0; layer < cells_[stream]; ++layer) {
      for (std::size_t b = 0; b < basis_.size(); ++b) {
        if (slab_of(layer, basis_[b]) == slab) add_layer(layer, b, result);
      }
    }
    return result;
  }

 private:
  /// The sums over all molecules take a while, and a plan needs none: they are made for the first slab.
  const VelocityDraw& draw() const {
    std::call_once(once_, [this] {
      const std::int64_t n = molecules();
      if (n > many_molecules) origin_->inform(cat("making the start of ", n, " molecules"));
      draw_ = VelocityDraw(seed_, temperature_, n, [this](std::int64_t i) {
        return VelocityDraw::Molecule{i + 1, mass_of(types_(i + 1))};
      });
    });
    return draw_;
  }
  double mass_of(int type) const { return masses_[static_cast<std::size_t>(type - 1)]; }
  double coordinate(int cell, double part) const { return (cell + part) * edge_; }

  int slab_of(int layer, const Triple& b) const {
    return grid_.x.part(coordinate(layer, b[static_cast<std::size_t>(axes_[0])]));
  }

  /// All molecules of one layer of cells across the stream axis that are at place b of their cell.
  void add_layer(int layer, std::size_t b, std::vector<StartMolecule>& result) const {
    std::array<std::size_t, 3> axis{};
    for (std::size_t k = 0; k < 3; ++k) axis[k] = static_cast<std::size_t>(axes_[k]);
    std::array<int, 3> cell{};
    cell[axis[0]] = layer;
    const VelocityDraw& draw = this->draw();
    for (cell[axis[1]] = 0; cell[axis[1]] < cells_[axis[1]]; ++cell[axis[1]]) {
      for (cell[axis[2]] = 0; cell[axis[2]] < cells_[axis[2]]; ++cell[axis[2]]) {
        const std::int64_t cell_number =
            (static_cast<std::int64_t>(cell[0]) * cells_[1] + cell[1]) * cells_[2] + cell[2];
        const std::int64_t id =
            cell_number * static_cast<std::int64_t>(basis_.size()) + static_cast<std::int64_t>(b) + 1;
        const int type = types_(id);
        const Triple v = draw(id, mass_of(type));
        Triple x{};
        for (std::size_t k = 0; k < 3; ++k) x[k] = coordinate(cell[axis[k]], basis_[b][axis[k]]);
        result.push_back({id, {x[0], x[1], x[2], make_tag(type, 0, 0, 0)}, {v[axis[0]], v[axis[1]], v[axis[2]]}});
      }
    }
  }

  std::vector<Triple> basis_;
  std::array<int, 3> cells_;
  double edge_ = 1;
  std::vector<double> masses_;
  double temperature_ = 0;
  TypeDraw types_;
  std::uint64_t seed_ = 1;
  std::optional<Config> origin_;
  mutable std::once_flag once_;
  mutable VelocityDraw draw_;
  CellGrid grid_;
  std::array<int, 3> axes_{0, 1, 2};
};

}  // namespace

std::unique_ptr<MoleculeSource> open_lattice_source(const Settings& settings) {
  return std::make_unique<LatticeSource>(settings);
}

}  // namespace dsea::md
