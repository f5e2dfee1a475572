// Profiles: density, temperature, energy, pressure and velocity in bins along an axis, averaged over steps.
//
// Any rank may own a step, and ranks share nothing but the output folder. So each step's sums go to a file of their
// own, and when the run has ended one rank adds them up in the order of steps: the same bits for every ring.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/md/molecule_sink.hpp"

namespace dsea::md {

/// Equal bins along an axis of the box.
struct ProfileBins {
  std::size_t axis = 0;  ///< the user's
  int count = 1;
  double lo = 0, hi = 1;
  double volume = 1;  ///< of one bin

  /// The bin of a place inside the box.
  int at(double x) const {
    const int bin = static_cast<int>((x - lo) / (hi - lo) * count);
    return bin < count ? bin : count - 1;
  }
  double centre(int bin) const { return lo + (hi - lo) * (bin + 0.5) / count; }
};

/// Sums over the molecules in a bin, of one step or of several.
struct BinSums {
  double molecules = 0;
  double mass = 0;
  std::array<double, 3> momentum{};
  double squares = 0;  ///< of m v^2
  double potential = 0;
  double virial = 0;

  void add(const SnapshotMolecule& molecule, double molecule_mass);
  void add(const BinSums& other);
};

/// One line of profile.csv. All 0 where a bin was never visited.
struct ProfileRow {
  double density = 0;      ///< molecules a volume
  double temperature = 0;  ///< of velocities relative to the bin's mean velocity
  double potential = 0;    ///< a molecule
  double pressure = 0;     ///< kinetic part and virial of the bin
  std::array<double, 3> velocity{};

  ProfileRow(const BinSums& sums, std::int64_t steps, double bin_volume);
};

/// Writes the sums of one step into the folder. `masses` are those of types 1, 2, ... and outlive it.
std::unique_ptr<MoleculeSink> open_profile_step(const ProfileBins& bins, const std::vector<double>& masses,
                                                std::int64_t step, const std::string& folder);

/// Adds up the sums of the steps first, first + every ... up to `last`, writes profile.csv and removes the sums. Throws
/// RunError if some are missing.
void write_profile(const ProfileBins& bins, std::int64_t first, std::int64_t every, std::int64_t last,
                   const std::string& folder);

}  // namespace dsea::md
