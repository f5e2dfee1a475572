#include "dsea/ring/topology.hpp"

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {

Topology::Topology(int slabs, bool periodic) : slabs_(slabs), periodic_(periodic) {
  if (slabs < 1) throw UsageError(cat("the data set has ", slabs, " slabs: at least 1 is needed"));
}

int Topology::slab(int slice, int lane) const {
  if (lane == 0) return slice;
  const int other = slabs_ - 1 - slice;
  return periodic_ && other != slice ? other : -1;
}

Topology::Place Topology::place(int slab) const {
  if (!periodic_ || slab < slices()) return {slab, 0};
  return {slabs_ - 1 - slab, 1};
}

Topology::Neighbour Topology::neighbour(int slab, int d) const {
  const int target = slab + d;
  if (!periodic_) return target >= 0 && target < slabs_ ? Neighbour{target, 0} : Neighbour{};
  const int wraps = target >= 0 ? target / slabs_ : -((slabs_ - 1 - target) / slabs_);
  return {target - wraps * slabs_, wraps};
}

}  // namespace dsea
