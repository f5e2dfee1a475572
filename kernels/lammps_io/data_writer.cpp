#include "kernels/lammps_io/data_writer.hpp"

#include "dsea/base/text.hpp"

namespace dsea::lammps {

DataWriter::DataWriter(const std::string& path, const DataHeader& header)
    : file_("data file", path), velocities_("data file", path + ".velocities"), expected_(header.molecules) {
  file_.write(header.title, "\n\n", header.molecules, " atoms\n", header.masses.size(), " atom types\n\n");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const char a = "xyz"[axis];
    file_.write(header.lo[axis], " ", header.hi[axis], cat(" ", a, "lo ", a, "hi\n"));
  }
  file_.text("\nMasses\n\n");
  for (std::size_t type = 1; type <= header.masses.size(); ++type) {
    file_.write(type, " ", header.masses[type - 1], "\n");
  }
  if (expected_ > 0) file_.text("\nAtoms # atomic\n\n");
}

void DataWriter::add(const DataMolecule& molecule) {
  file_.write(molecule.id, " ", molecule.type);
  for (double x : molecule.position) file_.write(" ", x);
  for (int n : molecule.image) file_.write(" ", n);
  file_.text("\n");
  velocities_.number(molecule.id);
  for (double v : molecule.velocity) velocities_.write(" ", v);
  velocities_.text("\n");
  ++written_;
}

void DataWriter::close() {
  if (written_ != expected_) file_.fail(cat("has ", written_, " molecules, but its header says ", expected_));
  if (expected_ > 0) {
    file_.text("\nVelocities\n\n");
    velocities_.append_to(file_);
  }
  file_.close();
}

}  // namespace dsea::lammps
