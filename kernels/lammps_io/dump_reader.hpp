// Reads LAMMPS text dumps (dump custom, or our own) as the start of a run.
//
// A file has one snapshot. Columns may come in any order: id type x y z are needed, vx vy vz and ix iy iz are taken if
// they are there, all others are passed over. LAMMPS wraps molecules only when it makes new lists: along a periodic
// axis ("pp") they may lie outside the box by less than its length, and are brought back into it.
#pragma once

#include <string>
#include <string_view>

#include "kernels/lammps_io/data_file.hpp"

namespace dsea::lammps {

/// The molecules as a data file has them; masses are 1. `types`: how many there are; 0: as many as the largest one in
/// the file. Throws UsageError "file:line: ..." for whatever is wrong with the file.
DataFile read_dump_file(const std::string& path, int types);

/// The same from text in memory; `name` stands for the file in messages.
DataFile parse_dump_file(std::string_view text, const std::string& name, int types);

}  // namespace dsea::lammps
