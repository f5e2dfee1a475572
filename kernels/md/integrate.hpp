// One step of velocity Verlet for one molecule whose force is known.
//
// Between steps a slab holds positions x(t) and velocities v(t - dt/2); only the start, and the end of a run after the
// closing pass, hold v(t). A step is: f(t) from x(t); v(t) = v(t - dt/2) + dt/2 a(t), at which everything is observed;
// v(t + dt/2) = v(t) + dt/2 a(t); x(t + dt) = x(t) + dt v(t + dt/2); then walls. The kicks are two additions and not
// one, so that a run that was ended and taken up again has the same bits.
//
// With Langevin's thermostat the drift is cut in two by an exact Ornstein-Uhlenbeck step of the velocity (BAOAB,
// Leimkuhler and Matthews 2013): v <- c v + sqrt((1 - c^2) T / m) g, c = exp(-dt / damp), with g from (seed, id, step).
//
// Periodic seams are passed when molecules are sorted (cell_list/migrate.hpp), not here.
#pragma once

#include <cstdint>

#include "dsea/ring/stage.hpp"
#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/cell_list/molecules.hpp"
#include "kernels/md/md_scratch.hpp"
#include "kernels/md/pair_sums.hpp"
#include "kernels/md/philox.hpp"

namespace dsea::md {

/// What is known of a type of molecules, ready for use.
struct TypeRow {
  double kick = 0;         ///< dt / (2 mass)
  double gravity[3] = {};  ///< dt/2 x acceleration, internal axes
  double mass = 1;
  double noise = 0;  ///< Langevin: sqrt((1 - c^2) T / mass)
};

struct Langevin {
  bool on = false;
  double keep = 1;  ///< c
  std::uint64_t seed = 0;
  std::int64_t step = 0;    ///< since the beginning of the first of the runs that were taken up
  int axes[3] = {0, 1, 2};  ///< internal axis k is the user's axes[k]: noise does not depend on the stream axis
};

struct Integrate {
  const Position* position = nullptr;
  const Velocity* velocity = nullptr;
  const std::int64_t* id = nullptr;
  const TypeRow* types = nullptr;  ///< of type 1, 2, ...
  Axis axes[3];
  double dt = 0;
  bool half_step = false;  ///< velocities are behind by half a step
  bool gravity = false;
  Langevin langevin;
  FaultReporter faults;

  Sample* samples = nullptr;        ///< by molecule: written if not null
  Position* to_position = nullptr;  ///< null: the velocity at the full step is all that is wanted
  Velocity* to_velocity = nullptr;  ///< null: the samples are all that is wanted

  DSEA_FN void operator()(std::int64_t i, const PairSums& force) const {
    const Position from = position[i];
    const TypeRow& type = types[tag_type(from.tag) - 1];
    Velocity v = velocity[i];
    if (half_step) kick(v, type, force);
    if (samples != nullptr) samples[i] = {force.x, force.y, force.z, 0.5 * force.energy, v, 0.5 * force.virial};
    if (to_velocity != nullptr) leave(i, force, v);
  }

  /// From the velocity at the full step to what the step leaves behind.
  DSEA_FN void leave(std::int64_t i, const PairSums& force, Velocity v) const {
    if (to_position != nullptr) {
      const Position from = position[i];
      const TypeRow& type = types[tag_type(from.tag) - 1];
      kick(v, type, force);
      to_position[i] = move(i, from, type, v);
    }
    to_velocity[i] = v;
  }

  DSEA_FN void kick(Velocity& v, const TypeRow& type, const PairSums& force) const {
    v.x += type.kick * force.x;
    v.y += type.kick * force.y;
    v.z += type.kick * force.z;
    if (!gravity) return;
    v.x += type.gravity[0];
    v.y += type.gravity[1];
    v.z += type.gravity[2];
  }

  /// The drift, from `p`; reports what cannot be right and stays then.
  DSEA_FN Position move(std::int64_t i, const Position& from, const TypeRow& type, Velocity& v) const {
    Position p = from;
    if (langevin.on) {
      drift(p, v, 0.5 * dt);
      const Normal3 g = philox_normal3(langevin.seed, static_cast<std::uint64_t>(id[i]),
                                       static_cast<std::uint64_t>(langevin.step) + 1);
      v.x = langevin.keep * v.x + type.noise * along(g, langevin.axes[0]);
      v.y = langevin.keep * v.y + type.noise * along(g, langevin.axes[1]);
      v.z = langevin.keep * v.z + type.noise * along(g, langevin.axes[2]);
      drift(p, v, 0.5 * dt);
    } else {
      drift(p, v, dt);
    }
    const bool inside = reflect(axes[0], p.x, v.x) & reflect(axes[1], p.y, v.y) & reflect(axes[2], p.z, v.z);
    if (inside) return p;
    const bool finite = p.x - p.x == 0.0 && p.y - p.y == 0.0 && p.z - p.z == 0.0;
    faults.report(static_cast<int>(finite ? MdFault::too_far : MdFault::not_finite), id[i]);
    return from;  // keeps everything in bounds until the run has ended
  }

  DSEA_FN static double along(const Normal3& g, int axis) { return axis == 0 ? g.x : (axis == 1 ? g.y : g.z); }

  DSEA_FN static void drift(Position& p, const Velocity& v, double time) {
    p.x += time * v.x;
    p.y += time * v.y;
    p.z += time * v.z;
  }

  /// Reflection at the walls of an axis. False if the place is not a number, or too far outside to be right.
  DSEA_FN static bool reflect(const Axis& axis, double& x, double& v) {
    if (axis.periodic) return x - axis.lo < 2 * axis.length && axis.lo - x < axis.length;
    if (x < axis.lo) {
      x = axis.lo + (axis.lo - x);
      v = -v;
    } else if (x > axis.hi) {
      x = axis.hi - (x - axis.hi);
      v = -v;
    }
    return x <= axis.hi && x >= axis.lo;
  }
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
  const Position* position;
  const TypeRow* types;
  DSEA_FN double operator()(std::int64_t i) const {
    const Velocity& v = samples[i].velocity;
    return 0.5 * types[tag_type(position[i].tag) - 1].mass * (v.x * v.x + v.y * v.y + v.z * v.z);
  }
};
struct SquaredSpeed {
  const Velocity* velocity;
  DSEA_FN double operator()(std::int64_t i) const {
    const Velocity& v = velocity[i];
    return v.x * v.x + v.y * v.y + v.z * v.z;
  }
};

}  // namespace dsea::md
