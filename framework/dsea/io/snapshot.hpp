// Snapshots: slices of one step written for people to look at.
#pragma once

#include <cstdint>
#include <string>

#include "dsea/slice/view.hpp"

namespace dsea {

/// Full steps of which a snapshot is taken.
struct SnapshotSteps {
  std::int64_t dump_every = 0;     ///< multiples of it; 0: none
  std::int64_t profile_every = 0;  ///< multiples of it; 0: none
  std::int64_t profile_from = 0;   ///< but not before this step
  bool last = false;               ///< the last step, whatever it is

  bool any() const { return dump_every > 0 || profile_every > 0 || last; }
  bool dump(std::int64_t step) const { return dump_every > 0 && step % dump_every == 0; }
  bool profile(std::int64_t step) const {
    return profile_every > 0 && step >= profile_from && step % profile_every == 0;
  }
  /// `steps`: of the whole run.
  bool wanted(std::int64_t step, std::int64_t steps) const {
    return dump(step) || profile(step) || (last && step == steps);
  }
};

/// Writes the snapshot of one step. Made by a program's open_snapshot(); used by the io thread alone. Every slab
/// arrives once, in an order that is the same in every run (0, 1, 2 ... on an open axis; 0, n-1, 1, n-2 ... on a folded
/// one). A file should appear under its name only when it is whole: write to a temporary name, rename in close().
/// Errors are thrown as RunError and end the run.
class SnapshotWriter {
 public:
  virtual ~SnapshotWriter() = default;
  /// One slab in the program's snapshot layout, in host memory. Valid during the call.
  virtual void slab(int slab, SlabIn data) = 0;
  /// All slabs have been written.
  virtual void close() = 0;
};

}  // namespace dsea
