// The configuration of molecular dynamics with Lennard-Jones molecules.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dsea/base/config.hpp"

namespace dsea::md {

/// What the sections [system], [lj], [ensemble], [time], [boundary] and the keys ring.stream and run.seed say. Arrays
/// are in the user's axes x, y, z. Lengths, energies, times in Lennard-Jones units.
struct Settings {
  std::string data;     ///< path of a LAMMPS data file; empty: a lattice
  std::string lattice;  ///< "fcc" or "sc"
  std::array<int, 3> cells{};
  double density = 0;
  double temperature = -1;  ///< of the velocities to be drawn; below 0: they are in the data file, or 0
  std::uint64_t seed = 1;

  double epsilon = 1;
  double sigma = 1;
  double cutoff = 2.5;
  bool shift = true;
  double dt = 0.0018;
  std::array<bool, 3> periodic{true, true, true};  ///< otherwise a mirror at both ends
  std::string stream = "x";                        ///< "x", "y", "z" or "longest"
  double spare = 0.25;  ///< a slab has room for this share more molecules than the fullest one at the start

  Config origin;  ///< for errors that show later

  /// Throws UsageError, with file and line, for values that are wrong by themselves.
  explicit Settings(const Config& config);
};

}  // namespace dsea::md
