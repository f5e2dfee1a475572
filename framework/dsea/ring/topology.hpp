// How slabs are arranged in slices: one a slice on an open axis; two, in two lanes, on a folded one.
//
// A periodic axis is a circle of slabs. Folded flat, slice i holds slab i (lane 0) and slab slabs-1-i (lane 1), so that
// neighbouring slabs are always in neighbouring slices, and the slices form a line, which can be streamed. With an odd
// number of slabs the middle slice has an empty lane 1. Pure arithmetic, no state; thread safe.
#pragma once

namespace dsea {

class Topology {
 public:
  struct Place {
    int slice = -1;
    int lane = 0;
    bool operator==(const Place&) const = default;
  };
  /// A slab's neighbour; slab is -1 beyond an open end.
  struct Neighbour {
    int slab = -1;
    int shift = 0;  ///< box lengths to add to the neighbour's coordinates
    explicit operator bool() const { return slab >= 0; }
    bool operator==(const Neighbour&) const = default;
  };

  Topology(int slabs, bool periodic);  // throws UsageError if slabs < 1

  int slabs() const { return slabs_; }
  bool periodic() const { return periodic_; }
  int slices() const { return periodic_ ? (slabs_ + 1) / 2 : slabs_; }
  int lanes() const { return periodic_ ? 2 : 1; }

  /// -1 for an empty lane.
  int slab(int slice, int lane) const;
  Place place(int slab) const;
  Neighbour neighbour(int slab, int d) const;

 private:
  int slabs_;
  bool periodic_;
};

}  // namespace dsea
