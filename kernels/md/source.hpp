// Where molecules come from: a LAMMPS data file, a dump or a lattice.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"
#include "kernels/md/settings.hpp"

namespace dsea::md {

/// A molecule at the start, in internal axes.
struct StartMolecule {
  std::int64_t id;
  Position position;
  Velocity velocity;
};

class MoleculeSource {
 public:
  virtual ~MoleculeSource() = default;
  virtual std::int64_t molecules() const = 0;
  virtual std::array<double, 3> lo() const = 0;  ///< of the box, in the user's axes
  virtual std::array<double, 3> hi() const = 0;
  virtual const std::vector<double>& masses() const = 0;  ///< of types 1, 2, ...
  virtual double temperature() const = 0;                 ///< of the velocities
  virtual std::int64_t step() const { return 0; }         ///< at which it was left by the run before

  /// Number of molecules of each slab of a grid, which slab() is about from now on. Internal axis k is the user's axis
  /// axes[k].
  virtual std::vector<std::int64_t> distribute(const CellGrid& grid, const std::array<int, 3>& axes) = 0;

  /// The molecules of a slab, in any order. After distribute(); may be called by several threads.
  virtual std::vector<StartMolecule> slab(int slab) const = 0;
};

/// Throws UsageError for bad input.
std::unique_ptr<MoleculeSource> open_file_source(const Settings& settings);
std::unique_ptr<MoleculeSource> open_lattice_source(const Settings& settings);

}  // namespace dsea::md
