// Molecules from a LAMMPS data file or dump: all are read at the start and put in order by slab.
#include <algorithm>
#include <tuple>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "kernels/lammps_io/data_file.hpp"
#include "kernels/lammps_io/dump_reader.hpp"
#include "kernels/md/source.hpp"
#include "kernels/md/velocity_draw.hpp"

namespace dsea::md {

namespace {

/// For messages.
std::string name_of(const Settings& s) { return s.dump.empty() ? "data file " + s.data : "dump " + s.dump; }

lammps::DataFile read(const Settings& s) {
  if (s.dump.empty()) return lammps::read_data_file(s.data);
  // One mass may be that of one type, or of all.
  return lammps::read_dump_file(s.dump, s.masses.size() > 1 ? static_cast<int>(s.masses.size()) : 0);
}

class FileSource final : public MoleculeSource {
 public:
  explicit FileSource(const Settings& settings)
      : name_(name_of(settings)),
        file_(read(settings)),
        periodic_(settings.periodic),
        count_(static_cast<std::int64_t>(file_.molecules.size())) {
    for (const std::string& warning : file_.warnings) settings.origin.warn(settings.start_key(), warning);
    if (file_.types > most_types) {
      throw UsageError(cat(name_, ": ", file_.types, " atom types, at most ", most_types, " are possible"));
    }
    choose_masses(settings);
    if (settings.temperature >= 0) {
      if (file_.has_velocities) {
        settings.origin.fail("system.temperature",
                             cat("the ", name_, " has velocities: remove the temperature, or the velocities"));
      }
      draw_velocities(settings);
    } else if (!file_.has_velocities && count_ > 0) {
      settings.origin.warn("system.temperature",
                           cat("is not given, and the ", name_, " has no velocities: molecules start at rest"));
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
  std::int64_t step() const override { return file_.step; }

  std::vector<std::int64_t> distribute(const CellGrid& grid, const std::array<int, 3>& axes) override {
    if (sorted_.empty()) sort(axes);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.slabs()));
    for (const StartMolecule& m : sorted_) ++counts[static_cast<std::size_t>(grid.x.part(m.position.x))];
    first_.assign(1, 0);
    for (std::int64_t n : counts) first_.push_back(first_.back() + n);
    return counts;
  }

  std::vector<StartMolecule> slab(int slab) const override {
    const auto at = static_cast<std::size_t>(slab);
    return {sorted_.begin() + first_[at], sorted_.begin() + first_[at + 1]};
  }

 private:
  void choose_masses(const Settings& settings) {
    std::vector<double> wanted = settings.masses;
    if (wanted.size() == 1) wanted.resize(file_.masses.size(), wanted[0]);  // one for all
    if (wanted.empty()) {
      if (file_.has_masses || file_.types == 1) return;  // in Lennard-Jones units the mass of the only type is 1
      settings.origin.fail(settings.start_key(), cat("the ", name_, " has ", file_.types,
                                                     " types of molecules, but no masses: give system.mass"));
    }
    if (wanted.size() != file_.masses.size()) {
      settings.origin.fail(
          "system.mass", cat("has ", wanted.size(), " numbers, but the ", name_, " has ", file_.types, " atom types"));
    }
    if (file_.has_masses && wanted != file_.masses) {
      settings.origin.warn("system.mass", cat("is taken instead of the masses in the ", name_));
    }
    file_.masses = std::move(wanted);
  }

  /// Turns the file's molecules into internal ones, by place along x first: that is the order of slabs, too.
  void sort(const std::array<int, 3>& axes) {
    sorted_.reserve(file_.molecules.size());
    for (const auto& molecule : file_.molecules) sorted_.push_back(internal(molecule, axes));
    file_.molecules = {};
    const auto place = [](const StartMolecule& m) { return std::tie(m.position.x, m.position.y, m.position.z); };
    std::sort(sorted_.begin(), sorted_.end(), [&place](const StartMolecule& a, const StartMolecule& b) {
      return place(a) != place(b) ? place(a) < place(b) : a.id < b.id;
    });
    const auto same =
        std::adjacent_find(sorted_.begin(), sorted_.end(),
                           [&place](const StartMolecule& a, const StartMolecule& b) { return place(a) == place(b); });
    if (same != sorted_.end()) {
      throw UsageError(cat("the ", name_, " has molecules ", same[0].id, " and ", same[1].id,
                           " at the same place: remove one, or move it"));
    }
  }

  double mass_of(const lammps::DataMolecule& m) const { return file_.masses[static_cast<std::size_t>(m.type - 1)]; }

  void draw_velocities(const Settings& settings) {
    const VelocityDraw draw(settings.seed, settings.temperature, molecules(), [this](std::int64_t i) {
      const lammps::DataMolecule& m = file_.molecules[static_cast<std::size_t>(i)];
      return VelocityDraw::Molecule{m.id, mass_of(m)};
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

  std::string name_;
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
