// What takes the molecules of a snapshot: a dump, a profile, a data file.
#pragma once

#include "kernels/lammps_io/dump_file.hpp"

namespace dsea::md {

/// A molecule of one full step as users see it: in their axes, inside the box, with images counted.
struct SnapshotMolecule : lammps::DumpMolecule {
  double potential = 0;  ///< its halves of the pair energies
  double virial = 0;     ///< and of the sum of r . f
};

/// Gets every molecule once, in an order that is the same in every run. Used by one thread.
class MoleculeSink {
 public:
  virtual ~MoleculeSink() = default;
  virtual void add(const SnapshotMolecule& molecule) = 0;
  /// All molecules have been there: what was made of them appears in the folder.
  virtual void close() = 0;
};

}  // namespace dsea::md
