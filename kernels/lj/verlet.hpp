// One step of velocity Verlet for the molecules of one slab.
//
// Between steps a slab holds positions x(t) and velocities v(t - dt/2); only the start, and the end of a run after the
// closing pass, hold v(t). A step is: f(t) from x(t); v(t) = v(t - dt/2) + dt/2m f(t), at which everything is observed;
// v(t + dt/2) = v(t) + dt/2m f(t); x(t + dt) = x(t) + dt v(t + dt/2); then seams and walls. The kicks are two additions
// and not one, so that a run that was ended and taken up again has the same bits.
#pragma once

#include <cstdint>

#include "dsea/device/for_each.hpp"
#include "dsea/ring/stage.hpp"
#include "kernels/cell_list/migrate.hpp"
#include "kernels/lj/force.hpp"
#include "kernels/lj/md_scratch.hpp"

namespace dsea::md {

/// The full-step part: forces, and the velocity at the full step.
struct FullStep {
  Surroundings around;
  LennardJones pair;
  View<const Velocity> velocity;
  double kick;      ///< dt / (2 mass)
  bool half_step;   ///< velocities are behind by half a step
  Sample* samples;  ///< by molecule; may be null

  DSEA_FN PairSums operator()(std::int64_t i, Velocity& v) const {
    const PairSums sums = sum_neighbours(around, pair, i);
    v = velocity[i];
    if (half_step) kicked(v, sums);
    if (samples != nullptr) samples[i] = {sums.x, sums.y, sums.z, 0.5 * sums.energy, v, 0.5 * sums.virial};
    return sums;
  }

  DSEA_FN void kicked(Velocity& v, const PairSums& force) const {
    v.x += kick * force.x;
    v.y += kick * force.y;
    v.z += kick * force.z;
  }
};

/// The whole step of molecule i; also marks places beyond the last molecule as staying.
struct Advance {
  static constexpr std::int64_t grain = 256;
  FullStep full;
  View<const std::int64_t> id;
  Move move;
  double dt;
  MigrateScratch scratch;
  FaultReporter faults;

  DSEA_FN void operator()(std::int64_t i) const {
    std::int32_t up = 0;
    std::int32_t down = 0;
    if (i < id.count()) {
      Moved to;
      const PairSums force = full(i, to.velocity);
      full.kicked(to.velocity, force);
      const Position from = full.around.position[1][i];
      to.position = {from.x + dt * to.velocity.x, from.y + dt * to.velocity.y, from.z + dt * to.velocity.z, from.tag};
      int offset = 0;
      const auto result = move.settle(from, to, offset);
      if (result != Move::Result::fine) {
        faults.report(static_cast<int>(result == Move::Result::not_finite ? MdFault::not_finite : MdFault::too_far),
                      id[i]);
        to.position = from;  // keeps everything in bounds until the run has ended
        offset = 0;
      }
      scratch.moved[i] = to;
      up = offset > 0 ? 1 : 0;
      down = offset < 0 ? 1 : 0;
    }
    scratch.up[i] = up;
    scratch.down[i] = down;
  }
};

/// The closing pass: velocities at the full step.
struct Close {
  static constexpr std::int64_t grain = 256;
  FullStep full;
  View<Velocity> velocity;
  DSEA_FN void operator()(std::int64_t i) const { full(i, velocity[i]); }
};

/// The terms of the observables.
struct PotentialEnergy {
  const Sample* samples;
  DSEA_FN double operator()(std::int64_t i) const { return samples[i].potential; }
};
struct Virial {
  const Sample* samples;
  DSEA_FN double operator()(std::int64_t i) const { return samples[i].virial; }
};
struct KineticEnergy {
  const Sample* samples;
  double half_mass;
  DSEA_FN double operator()(std::int64_t i) const {
    const Velocity& v = samples[i].velocity;
    return half_mass * (v.x * v.x + v.y * v.y + v.z * v.z);
  }
};

}  // namespace dsea::md
