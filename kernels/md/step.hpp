// Forces and integration of one slab: the plain kernel of both back ends, and the door to the host's lanes.
#pragma once

#include <cstdint>

#include "dsea/device/for_each.hpp"
#include "kernels/md/integrate.hpp"
#include "kernels/md/neighbour_list.hpp"
#include "kernels/md/pair/laws.hpp"

namespace dsea::md {

/// All that a step of one slab is made of.
struct StepJob {
  Packed packed;
  PairTable pairs;
  NeighbourList list;
  Integrate integrate;
};

/// One molecule: from its list if that holds all, else from the cells around it.
template <class Law>
struct StepMolecule {
  static constexpr std::int64_t grain = 256;
  StepJob job;

  DSEA_FN void operator()(std::int64_t i) const {
    const PairSums sums = job.list.holds_all() ? list_sums<Law>(job.packed, job.pairs, job.list, i)
                                               : plain_sums<Law>(job.packed, job.pairs, i);
    job.integrate(i, sums);
  }
};

/// The same on the host, four or eight molecules at a time (step_lanes.cpp); the same bits. Groups without a list are
/// left to StepMolecule's way.
template <class Law>
void step_lanes(Stream& stream, Count molecules, const StepJob& job);

/// The list of a slab on the host, filled up for step_lanes().
void make_list_lanes(Stream& stream, Count molecules, const ListMaker& make);

#define DSEA_DECLARE_LANES(Law) extern template void step_lanes<Law>(Stream&, Count, const StepJob&);
DSEA_PAIR_LAWS(DSEA_DECLARE_LANES)
#undef DSEA_DECLARE_LANES

inline namespace DSEA_KERNEL_NAMESPACE {

template <class Law>
void step(Stream& stream, Count molecules, const StepJob& job) {
  if (!stream.is_cuda() && job.list.number != nullptr) return step_lanes<Law>(stream, molecules, job);
  for_each(stream, molecules, StepMolecule<Law>{job});
}

inline void make_list(Stream& stream, Count molecules, const ListMaker& make) {
  if (!stream.is_cuda()) return make_list_lanes(stream, molecules, make);
  for_each(stream, molecules, make);
}

namespace detail {

/// How far the slab may have moved after this step; when that is more than the cells allow, looks at every molecule.
struct AddMoved {
  const double* squared_speed;  // the largest one
  const double* before;
  double* after;
  double dt;
  double limit;  // how far a molecule may leave its cell
  Position* position;
  const std::int32_t* cells;
  const std::int64_t* id;
  CellGrid grid;
  int slab;
  FaultReporter faults;

  DSEA_FN void operator()(std::int64_t) const {
    *after = *before + dt * sqrt(*squared_speed);
    if (*after <= limit) return;
    for (int cell = 0; cell < grid.cells(); ++cell) {
      for (std::int32_t i = cells[cell]; i < cells[cell + 1]; ++i) {
        const Position& p = position[i];
        if (grid.x.strays(p.x, slab) <= limit && grid.y.strays(p.y, cell / grid.z.parts) <= limit &&
            grid.z.strays(p.z, cell % grid.z.parts) <= limit) {
          continue;
        }
        faults.report(static_cast<int>(MdFault::too_far), id[i]);
        return;
      }
    }
  }
};

}  // namespace detail

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea::md
