// What workers put into a snapshot.
#pragma once

#include <cstdint>

#include "dsea/slice/layout.hpp"
#include "kernels/cell_list/molecules.hpp"

namespace dsea::md {

/// Force on a molecule and its halves of the pair energies and of the sum of r . f.
struct ForceEnergy {
  double x, y, z;
  double potential;
  double virial;
};

/// The fields of a snapshot: the state of one full step.
struct SnapshotFields {
  Field<std::int64_t> id;
  Field<Position> position;
  Field<Velocity> velocity;
  Field<ForceEnergy> force;
};

}  // namespace dsea::md
