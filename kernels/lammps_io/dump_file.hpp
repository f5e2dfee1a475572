// Writes LAMMPS text dumps, which LAMMPS (read_dump, rerun), OVITO, MDAnalysis and others read.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/lammps_io/part_file.hpp"

namespace dsea::lammps {

/// One molecule of a dump, in the user's axes.
struct DumpMolecule {
  std::int64_t id = 0;
  int type = 1;
  std::array<double, 3> position{};
  std::array<double, 3> velocity{};
  std::array<double, 3> force{};
  std::array<int, 3> image{};
};

struct DumpHeader {
  std::int64_t step = 0;
  std::int64_t molecules = 0;
  std::array<double, 3> lo{};
  std::array<double, 3> hi{};
  std::array<bool, 3> periodic{};  ///< written as "pp", otherwise "ff"
  bool forces = true;              ///< with columns fx fy fz
};

/// Columns: id type x y z vx vy vz [fx fy fz] ix iy iz. Numbers have as many digits as it takes to read back the same
/// bits. The file appears under its name only by close(). Used by one thread at a time. Errors are RunErrors that name
/// the file.
class DumpFile {
 public:
  DumpFile(std::string path, const DumpHeader& header);

  void add(const DumpMolecule& molecule);

  /// Writes what is left. Throws if the number of molecules is not the header's.
  void close();

 private:
  PartFile file_;
  bool forces_;
  std::int64_t expected_;
  std::int64_t written_ = 0;
};

/// "dump.<step>.lammpstrj"
std::string dump_name(std::int64_t step);

}  // namespace dsea::lammps
