#include "kernels/lj/settings.hpp"

#include <filesystem>

#include "dsea/base/text.hpp"

namespace dsea::md {

namespace {

void read_system(const Config& config, Settings& s) {
  const auto data = config.find<std::string>("system.data");
  const auto temperature = config.find<double>("system.temperature", not_negative);
  const bool lattice = config.has("system.lattice");
  if (data && lattice) config.fail("system.lattice", "system.data is given too: choose one of the two");
  if (!data && !lattice) {
    config.fail("system.data", "the start is missing: give system.data (a LAMMPS data file) or system.lattice");
  }
  if (data) {
    for (const char* key : {"system.cells", "system.density"}) {
      if (config.has(key)) config.fail(key, "goes with system.lattice, not with system.data");
    }
    const std::filesystem::path folder = std::filesystem::path(config.name()).parent_path();
    s.data = (folder / *data).string();  // an absolute path stays as it is
    if (temperature) s.temperature = *temperature;
    return;
  }
  s.lattice = config.choice("system.lattice", "fcc", {"fcc", "sc"});
  const auto cells = config.require<std::vector<std::int64_t>>("system.cells", between(1, 1e6));
  if (cells.size() != 3) config.fail("system.cells", cat("needs three numbers, one for each axis, not ", cells.size()));
  for (std::size_t axis = 0; axis < 3; ++axis) s.cells[axis] = static_cast<int>(cells[axis]);
  s.density = config.require<double>("system.density", positive);
  if (!temperature) config.fail("system.temperature", "is missing: a lattice needs a temperature to start with");
  s.temperature = *temperature;
}

}  // namespace

Settings::Settings(const Config& config) : origin(config) {
  read_system(config, *this);
  seed = static_cast<std::uint64_t>(config.get<std::int64_t>("run.seed", 1));
  epsilon = config.get<double>("lj.epsilon", 1.0, not_negative);
  sigma = config.get<double>("lj.sigma", 1.0, positive);
  cutoff = config.get<double>("lj.cutoff", 2.5, positive);
  shift = config.get<bool>("lj.shift", true);
  dt = config.get<double>("time.dt", 0.0018, positive);
  const std::string ensemble = config.choice("ensemble.kind", "nve", {"nve", "langevin", "rescale"});
  if (ensemble != "nve") {
    config.fail("ensemble.kind", cat("\"", ensemble, "\" is not available yet; use \"nve\""));
  }
  constexpr const char* axis_keys[] = {"boundary.x", "boundary.y", "boundary.z"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    periodic[axis] = config.choice(axis_keys[axis], "periodic", {"periodic", "mirror"}) == "periodic";
  }
  stream = config.choice("ring.stream", "x", {"x", "y", "z", "longest"});
  spare = config.get<double>("system.spare", 0.25, between(0, 100));
}

}  // namespace dsea::md
