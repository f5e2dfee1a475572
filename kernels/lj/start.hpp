// The state at step 0, cut into slabs.
//
// Two passes: the first one, in the constructor, finds the box, the number of molecules of each slab and what
// velocities need to know of all; the second one makes the molecules of one slab, in any order of slabs, by several
// threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"
#include "kernels/lj/settings.hpp"
#include "kernels/lj/source.hpp"

namespace dsea::md {

class Start {
 public:
  /// Throws UsageError, with the reason, for what cannot be right: a bad file, a box too small.
  explicit Start(const Settings& settings);

  const CellGrid& grid() const { return grid_; }
  std::int64_t molecules() const { return source_->molecules(); }
  double mass() const { return source_->mass(); }
  /// Internal axis k is the user's axis axes()[k]; axis 0 is the stream axis.
  const std::array<int, 3>& axes() const { return axes_; }
  /// Molecules of the fullest slab.
  std::int64_t most_in_a_slab() const { return most_; }

  /// The molecules of a slab, sorted by cell and id.
  std::vector<StartMolecule> slab(int slab) const;

  /// Fills the fields of a slab in host memory. Throws RunError if they have no room.
  void fill(int slab, const MoleculesOut& out) const;

 private:
  std::shared_ptr<MoleculeSource> source_;
  std::array<int, 3> axes_{};
  CellGrid grid_;
  std::int64_t most_ = 0;
};

/// Room for the molecules of a slab: `spare` more than the fullest one has, and some for slabs with few.
std::int64_t slab_capacity(std::int64_t most_in_a_slab, double spare, std::int64_t molecules);

}  // namespace dsea::md
