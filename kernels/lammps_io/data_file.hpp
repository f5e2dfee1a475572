// Reads LAMMPS data files (the format of LAMMPS's read_data command), atom style atomic.
//
// Understood: comments, the header's atoms, atom types and box bounds, and the sections Masses, Atoms (id type x y z,
// and three image flags if all molecules have them) and Velocities (after Atoms). "Pair Coeffs" and "PairIJ Coeffs" are
// skipped: pair coefficients come from the configuration. Everything else is an error, never ignored.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dsea::lammps {

/// Types of molecules a file may have.
inline constexpr int most_types = 32;

struct DataMolecule {
  std::int64_t id = 0;
  int type = 1;  ///< from 1
  std::array<double, 3> position{};
  std::array<double, 3> velocity{};
  std::array<int, 3> image{};
};

struct DataFile {
  std::array<double, 3> lo{};
  std::array<double, 3> hi{};
  int types = 1;
  std::vector<double> masses;  ///< of types 1, 2, ...; 1 where the file has none
  bool has_masses = false;
  std::int64_t step = 0;  ///< at which it was written: a dump's TIMESTEP, or "timestep = <n>" in a data file's title
  std::vector<DataMolecule> molecules;  ///< sorted by id; lo <= position <= hi
  bool has_velocities = false;
  std::vector<std::string> warnings;  ///< "file:line: ..."
};

/// Throws UsageError "file:line: ..." for whatever is wrong with the file.
DataFile read_data_file(const std::string& path);

/// The same from text in memory; `name` stands for the file in messages.
DataFile parse_data_file(std::string_view text, const std::string& name);

}  // namespace dsea::lammps
