// The state at step 0, cut into slabs.
//
// The constructor finds the box, the types and what velocities need to know of all molecules; cut() the slabs and how
// many molecules each has; slab() makes the molecules of one slab, in any order of slabs, by several threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dsea/device/table.hpp"
#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"
#include "kernels/md/settings.hpp"
#include "kernels/md/slab_widths.hpp"
#include "kernels/md/source.hpp"

namespace dsea::md {

class Start {
 public:
  /// Throws UsageError, with the reason, for what cannot be right in file or lattice.
  explicit Start(const Settings& settings);

  std::int64_t molecules() const { return source_->molecules(); }
  const std::vector<double>& masses() const { return source_->masses(); }  ///< of types 1, 2, ...
  int types() const { return static_cast<int>(masses().size()); }
  double temperature() const { return source_->temperature(); }
  /// The step at which a run left it, as the file says; with [ensemble] first_step that. 0: a new start.
  std::int64_t first_step() const { return settings_.first_step.value_or(source_->step()); }
  std::array<double, 3> lengths() const;  ///< of the box, in the user's axes

  /// Cuts the box into slabs and cells that are at least `reach` wide. Throws UsageError if a periodic axis is shorter
  /// than the cut-off, for then molecules would see their own images, and for widths of slabs that cannot be.
  void cut(double cutoff, double reach);

  // After cut():
  const CellGrid& grid() const { return grid_; }
  const Table<double>& slab_edges() const { return slab_edges_; }  ///< empty: slabs of equal width
  /// Internal axis k is the user's axis axes()[k]; axis 0 is the stream axis.
  const std::array<int, 3>& axes() const { return axes_; }
  /// Molecules of the fullest slab.
  std::int64_t most_in_a_slab() const { return most_; }
  /// Molecules in a unit of volume of the slab that has most in it.
  double highest_density() const { return highest_density_; }

  /// The molecules of a slab, sorted by cell and id.
  std::vector<StartMolecule> slab(int slab) const;

  /// Fills the fields of a slab in host memory. Throws RunError if they have no room.
  void fill(int slab, const MoleculesOut& out) const;

 private:
  /// Counts the molecules in the parts of the stream axis.
  CountMolecules counter() const;
  std::vector<std::int64_t> distribute(const CellGrid& grid) const;

  Settings settings_;
  std::shared_ptr<MoleculeSource> source_;
  std::array<bool, 3> periodic_;
  std::array<int, 3> axes_{};
  CellGrid grid_;
  Table<double> slab_edges_;
  std::int64_t most_ = 0;
  double highest_density_ = 0;
};

/// Room for the molecules of a slab: `spare` more than the fullest one has, and some for slabs with few.
std::int64_t slab_capacity(std::int64_t most_in_a_slab, double spare, std::int64_t molecules);

}  // namespace dsea::md
