#include "kernels/lammps_io/dump_file.hpp"

#include <utility>

#include "dsea/base/text.hpp"

namespace dsea::lammps {

std::string dump_name(std::int64_t step) { return cat("dump.", step, ".lammpstrj"); }

DumpFile::DumpFile(std::string path, const DumpHeader& header)
    : file_("dump", std::move(path)), forces_(header.forces), expected_(header.molecules) {
  file_.write("ITEM: TIMESTEP\n", header.step, "\nITEM: NUMBER OF ATOMS\n", header.molecules, "\nITEM: BOX BOUNDS");
  for (bool periodic : header.periodic) file_.text(periodic ? " pp" : " ff");
  file_.text("\n");
  for (std::size_t axis = 0; axis < 3; ++axis) file_.write(header.lo[axis], " ", header.hi[axis], "\n");
  file_.write("ITEM: ATOMS id type x y z vx vy vz", forces_ ? " fx fy fz" : "", " ix iy iz\n");
}

void DumpFile::add(const DumpMolecule& molecule) {
  file_.write(molecule.id, " ", molecule.type);
  for (double x : molecule.position) file_.write(" ", x);
  for (double v : molecule.velocity) file_.write(" ", v);
  if (forces_) {
    for (double f : molecule.force) file_.write(" ", f);
  }
  for (int n : molecule.image) file_.write(" ", n);
  file_.text("\n");
  ++written_;
}

void DumpFile::close() {
  if (written_ != expected_) file_.fail(cat("has ", written_, " molecules, but its header says ", expected_));
  file_.close();
}

}  // namespace dsea::lammps
