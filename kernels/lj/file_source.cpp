// Molecules from a LAMMPS data file or dump: all are read at the start and put in order by slab.
#include <algorithm>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "kernels/lammps_io/data_file.hpp"
#include "kernels/lammps_io/dump_reader.hpp"
#include "kernels/lj/source.hpp"
#include "kernels/lj/velocity_draw.hpp"

namespace dsea::md {

namespace {

/// For messages.
std::string name_of(const Settings& s) { return s.dump.empty() ? "data file " + s.data : "dump " + s.dump; }

lammps::DataFile read(const Settings& s) {
  if (s.dump.empty()) return lammps::read_data_file(s.data);
  return lammps::read_dump_file(s.dump, static_cast<int>(s.masses.size()));
}

class FileSource final : public MoleculeSource {
 public:
  explicit FileSource(const Settings& settings)
      : file_(read(settings)), periodic_(settings.periodic), count_(static_cast<std::int64_t>(file_.molecules.size())) {
    if (file_.types > most_types) {
      throw UsageError(cat(name_of(settings), ": ", file_.types, " atom types, at most ", most_types, " are possible"));
    }
    if (!settings.masses.empty()) {
      if (settings.masses.size() != file_.masses.size()) {
        settings.origin.fail("system.mass", cat("has ", settings.masses.size(), " numbers, but the ", name_of(settings),
                                                " has ", file_.types, " atom types"));
      }
      file_.masses = settings.masses;
    }
    if (settings.temperature >= 0) {
      if (file_.has_velocities) {
        settings.origin.fail("system.temperature", cat("the ", name_of(settings),
                                                       " has velocities: remove the temperature, or the velocities"));
      }
      draw_velocities(settings);
    }
    double squares = 0;
    for (const auto& m : file_.molecules) {
      for (double v : m.velocity) squares += mass_of(m) * v * v;
    }
    temperature_ = count_ > 1 ? squares / static_cast<double>(3 * count_ - 3) : squares / 3;
  }

  std::int64_t molecules() const override { return count_; }
  std::array<double, 3> lo() const override { return file_.lo; }
  std::array<double, 3> hi() const override { return file_.hi; }
  const std::vector<double>& masses() const override { return file_.masses; }
  double temperature() const override { return temperature_; }

  std::vector<std::int64_t> distribute(const CellGrid& grid, const std::array<int, 3>& axes) override {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.slabs()));
    std::vector<std::pair<int, StartMolecule>> placed;
    placed.reserve(file_.molecules.size());
    for (const auto& molecule : file_.molecules) {
      const StartMolecule m = internal(molecule, axes);
      const int slab = grid.x.part(m.position.x);
      ++counts[static_cast<std::size_t>(slab)];
      placed.emplace_back(slab, m);
    }
    file_.molecules = {};
    std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    sorted_.reserve(placed.size());
    for (const auto& [slab, m] : placed) sorted_.push_back(m);
    first_.assign(1, 0);
    for (std::int64_t n : counts) first_.push_back(first_.back() + n);
    return counts;
  }

  std::vector<StartMolecule> slab(int slab) const override {
    const auto at = static_cast<std::size_t>(slab);
    return {sorted_.begin() + first_[at], sorted_.begin() + first_[at + 1]};
  }

 private:
  double mass_of(const lammps::DataMolecule& m) const { return file_.masses[static_cast<std::size_t>(m.type - 1)]; }

  void draw_velocities(const Settings& settings) {
    const VelocityDraw draw(settings.seed, settings.temperature, molecules(), [this](const auto& use) {
      for (const auto& m : file_.molecules) use(m.id, mass_of(m));
    });
    for (auto& m : file_.molecules) m.velocity = draw(m.id, mass_of(m));
  }

  StartMolecule internal(lammps::DataMolecule m, const std::array<int, 3>& axes) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!periodic_[axis] || m.position[axis] < file_.hi[axis]) continue;
      m.position[axis] = file_.lo[axis];  // the seam is one plane with two names
      ++m.image[axis];
    }
    const auto a = static_cast<std::size_t>(axes[0]);
    const auto b = static_cast<std::size_t>(axes[1]);
    const auto c = static_cast<std::size_t>(axes[2]);
    return {m.id,
            {m.position[a], m.position[b], m.position[c], make_tag(m.type, m.image[a], m.image[b], m.image[c])},
            {m.velocity[a], m.velocity[b], m.velocity[c]}};
  }

  lammps::DataFile file_;
  std::array<bool, 3> periodic_;
  std::vector<StartMolecule> sorted_;  // by slab
  std::vector<std::int64_t> first_;    // of each slab, and the end
  std::int64_t count_;
  double temperature_ = 0;
};

}  // namespace

std::unique_ptr<MoleculeSource> open_file_source(const Settings& settings) {
  return std::make_unique<FileSource>(settings);
}

}  // namespace dsea::md
