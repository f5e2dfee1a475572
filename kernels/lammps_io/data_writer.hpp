// Writes LAMMPS data files (the format of LAMMPS's read_data command), atom style atomic.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lammps_io/data_file.hpp"
#include "kernels/lammps_io/part_file.hpp"

namespace dsea::lammps {

struct DataHeader {
  std::string title;  ///< first line of the file
  std::int64_t molecules = 0;
  std::array<double, 3> lo{};
  std::array<double, 3> hi{};
  std::vector<double> masses;  ///< of types 1, 2, ...
};

/// Sections Masses, Atoms with image flags, and Velocities, which wait in a file of their own until all molecules are
/// there. Numbers have as many digits as it takes to read back the same bits, 17 at most. The file appears under its
/// name only by close(). Used by one thread at a time. Errors are RunErrors that name the file.
class DataWriter {
 public:
  DataWriter(const std::string& path, const DataHeader& header);

  /// The place is inside the box.
  void add(const DataMolecule& molecule);

  /// Throws if the number of molecules is not the header's.
  void close();

 private:
  PartFile file_;
  PartFile velocities_;
  std::int64_t expected_;
  std::int64_t written_ = 0;
};

}  // namespace dsea::lammps
