#include "kernels/md/settings.hpp"

#include <algorithm>
#include <cctype>

#include "dsea/base/text.hpp"
#include "kernels/md/pair/laws.hpp"

namespace dsea::md {

namespace {

/// A start from a file. False: it is a lattice.
bool read_file(const Config& config, Settings& s) {
  const auto data = config.find_file("system.data");
  const auto dump = config.find_file("system.dump");
  const bool lattice = config.has("system.lattice");
  const char* const key = data ? "system.data" : "system.dump";
  if (data && dump) config.fail("system.dump", "system.data is given too: choose one of the two");
  if ((data || dump) && lattice) config.fail("system.lattice", cat(key, " is given too: choose one of the two"));
  if (!data && !dump && !lattice) {
    config.fail("system.data",
                cat("the start is missing: give system.data (a LAMMPS data file), system.dump (a LAMMPS ",
                    "dump) or system.lattice"));
  }
  if (lattice) return false;
  for (const char* other : {"system.cells", "system.density"}) {
    if (config.has(other)) config.fail(other, cat("goes with system.lattice, not with ", key));
  }
  if (config.has("system.fractions")) {
    config.fail("system.fractions", cat("goes with system.lattice: a ", data ? "data file" : "dump", " has types"));
  }
  (data ? s.data : s.dump) = data ? *data : *dump;
  return true;
}

void read_system(const Config& config, Settings& s) {
  if (const auto mass = config.find<std::vector<double>>("system.mass", positive)) {
    if (mass->empty()) config.fail("system.mass", "has no number: give one for each type of molecules");
    s.masses = *mass;
  }
  const auto temperature = config.find<double>("system.temperature", not_negative);
  if (read_file(config, s)) {
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
  const std::size_t types = std::max<std::size_t>(1, s.masses.size());
  s.fractions = config.get<std::vector<double>>("system.fractions", std::vector<double>(types, 1.0), not_negative);
  if (s.fractions.size() > static_cast<std::size_t>(most_types)) {
    config.fail("system.fractions", cat("has ", s.fractions.size(), " numbers; at most ", most_types, " types fit"));
  }
  if (std::all_of(s.fractions.begin(), s.fractions.end(), [](double f) { return f == 0; })) {
    config.fail("system.fractions", "are all 0: at least one type must have molecules");
  }
  if (s.masses.size() == 1) s.masses.resize(s.fractions.size(), s.masses[0]);  // one for all
  if (!s.masses.empty() && s.masses.size() != s.fractions.size()) {
    config.fail("system.mass", cat("has ", s.masses.size(), " numbers, but system.fractions has ", s.fractions.size(),
                                   ": both are one number for each type"));
  }
}

/// The law that has a section; Lennard-Jones where none has.
std::string read_law(const Config& config) {
  std::string found;
  for (const std::string& name : law_names()) {
    if (!config.has(name)) continue;
    if (!found.empty()) config.fail(name, cat("[", found, "] is given too: a run has one pair law"));
    found = name;
  }
  return found.empty() ? "lj" : found;
}

void read_ensemble(const Config& config, Settings& s) {
  const std::string kind = config.get<std::string>("ensemble.kind", "nve");
  std::string lower = kind;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* global : {"nvt", "npt", "nph", "nose", "hoover", "berendsen", "csvr", "csld", "andersen", "bussi"}) {
    if (lower.find(global) == std::string::npos) continue;
    config.fail("ensemble.kind",
                cat("\"", kind, "\" needs a sum over all molecules of the same step, which is not known while slices ",
                    "stream; use \"langevin\" (samples the canonical ensemble) or \"rescale\" (scales slab by slab)"));
  }
  s.ensemble = config.choice("ensemble.kind", "nve", {"nve", "langevin", "rescale"});
  const auto temperature = config.find<double>("ensemble.temperature", not_negative);
  const auto damp = config.find<double>("ensemble.damp", positive);
  const auto each = config.find<bool>("ensemble.each_type");
  s.first_step = config.find<std::int64_t>("ensemble.first_step", between(0, 1e15));
  if (s.ensemble == "nve") {
    for (const char* key : {"ensemble.temperature", "ensemble.damp", "ensemble.each_type", "ensemble.first_step"}) {
      if (config.has(key)) config.fail(key, "goes with a thermostat, but ensemble.kind is \"nve\": remove one of them");
    }
    return;
  }
  if (!temperature) config.fail("ensemble.temperature", cat("is missing: \"", s.ensemble, "\" needs it"));
  s.temperature_wanted = *temperature;
  if (s.ensemble == "langevin") {
    if (!damp) config.fail("ensemble.damp", "is missing: the time after which a velocity is forgotten, such as 1.0");
    s.damp = *damp;
    if (each) config.fail("ensemble.each_type", "goes with \"rescale\", not with \"langevin\"");
  } else {
    for (const char* key : {"ensemble.damp", "ensemble.first_step"}) {
      if (config.has(key)) config.fail(key, "goes with \"langevin\", not with \"rescale\"");
    }
    s.rescale_each_type = each.value_or(false);
  }
}

constexpr std::int64_t most_sort_every = 1000;

}  // namespace

Settings::Settings(const Config& config) : origin(config) {
  std::vector<std::string> sections = law_names();
  for (const char* name :
       {"system", "ensemble", "gravity", "neighbour", "time", "boundary", "profile", "ring", "run"}) {
    sections.emplace_back(name);
  }
  config.expect_sections(sections);
  read_system(config, *this);
  seed = static_cast<std::uint64_t>(config.get<std::int64_t>("run.seed", 1));
  law = read_law(config);
  dt = config.get<double>("time.dt", 0.0018, positive);
  read_ensemble(config, *this);
  constexpr const char* axis_keys[] = {"boundary.x", "boundary.y", "boundary.z"};
  constexpr const char* gravity_keys[] = {"gravity.x", "gravity.y", "gravity.z"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    periodic[axis] = config.choice(axis_keys[axis], "periodic", {"periodic", "mirror"}) == "periodic";
    accelerations[axis] = config.get<std::vector<double>>(gravity_keys[axis], {0.0});
    const auto& a = accelerations[axis];
    const bool pulls = std::any_of(a.begin(), a.end(), [](double g) { return g != 0; });
    if (pulls && periodic[axis]) {
      config.fail(gravity_keys[axis], cat("molecules fall for ever along a periodic axis: set ", axis_keys[axis],
                                          " = \"mirror\", or gravity to 0"));
    }
  }
  if (const auto every = config.count_or_auto("neighbour.every")) {
    if (*every > most_sort_every) config.fail("neighbour.every", cat("must be at most ", most_sort_every));
    sort_every = static_cast<int>(*every);
  }
  skin = config.get<double>("neighbour.skin", 0.3, not_negative);
  stream = config.choice("ring.stream", "x", {"x", "y", "z", "longest"});
  slabs = config.choice("ring.slabs", "equal", {"equal", "balanced", "given"});
  if (const auto widths = config.find<std::vector<double>>("ring.slab_widths", positive)) slab_widths = *widths;
  if (slabs == "given" && slab_widths.empty()) {
    config.fail("ring.slabs", "\"given\" needs ring.slab_widths, the widths of all slabs");
  }
  if (slabs != "given" && config.has("ring.slab_widths")) {
    config.fail("ring.slab_widths", "goes with ring.slabs = \"given\"");
  }
  spare = config.get<double>("system.spare", 0.25, between(0, 100));
}

double Settings::gravity(std::size_t axis, int type, int types) const {
  const std::vector<double>& a = accelerations[axis];
  if (a.size() == 1) return a[0];
  if (static_cast<int>(a.size()) != types) {
    origin.fail(std::string("gravity.") + "xyz"[axis],
                cat("has ", a.size(), " numbers for ", types, " types: give one for each type, or one for all"));
  }
  return a[static_cast<std::size_t>(type - 1)];
}

}  // namespace dsea::md
