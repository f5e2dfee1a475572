// The configuration of molecular dynamics.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsea/base/config.hpp"
#include "kernels/lammps_io/data_file.hpp"

namespace dsea::md {

/// Types of molecules a run may have.
inline constexpr int most_types = lammps::most_types;

/// What the sections [system], [ensemble], [gravity], [neighbour], [time], [boundary] and the keys ring.stream,
/// ring.slabs, ring.slab_widths and run.seed say, and which pair law has a section. Arrays are in the user's axes x, y,
/// z. Lengths, energies, times in Lennard-Jones units.
struct Settings {
  std::string data;     ///< path of a LAMMPS data file,
  std::string dump;     ///< or of a LAMMPS dump,
  std::string lattice;  ///< or "fcc" or "sc"; the others are empty
  std::array<int, 3> cells{};
  double density = 0;
  double temperature = -1;  ///< of the velocities to be drawn; below 0: they are in the file, or 0
  std::uint64_t seed = 1;

  std::vector<double> masses;     ///< of types 1, 2, ... as [system] mass says; empty: from the data file, or 1
  std::vector<double> fractions;  ///< of molecules of a lattice that are of type 1, 2, ...

  std::string law;  ///< pair law, and the section that has its coefficients: "lj", "wca", "morse"
  double dt = 0.0018;
  std::string ensemble = "nve";  ///< "nve", "langevin", "rescale"
  double temperature_wanted = 0;
  double damp = 1;  ///< Langevin: time after which a velocity is forgotten
  bool rescale_each_type = false;
  std::optional<std::int64_t> first_step;  ///< of Langevin's random numbers; none: the step that the start was left at
  std::array<std::vector<double>, 3> accelerations;  ///< of types 1, 2, ..., or one for all; see gravity()

  std::optional<int> sort_every;                   ///< steps between two sortings; none: chosen
  double skin = 0.3;                               ///< of neighbour lists; 0: no lists
  std::array<bool, 3> periodic{true, true, true};  ///< otherwise a mirror at both ends
  std::string stream = "x";                        ///< "x", "y", "z" or "longest"
  std::string slabs = "equal";                     ///< widths of slabs: "equal", "balanced" or "given":
  std::vector<double> slab_widths;                 ///< of all slabs, along the stream axis
  double spare = 0.25;  ///< a slab has room for this share more molecules than the fullest one at the start

  Config origin;  ///< for errors that show later

  /// The key that names the start, for errors of what it holds.
  const char* start_key() const {
    return !lattice.empty() ? "system.cells" : dump.empty() ? "system.data" : "system.dump";
  }

  /// Temperature that a thermostat holds; 0 without one.
  double ensemble_temperature() const { return ensemble == "nve" ? 0.0 : temperature_wanted; }

  /// Constant acceleration of a type along a user's axis. Throws UsageError if the numbers are not one for each type.
  double gravity(std::size_t axis, int type, int types) const;

  /// Throws UsageError, with file and line, for values that are wrong by themselves.
  explicit Settings(const Config& config);
};

}  // namespace dsea::md
