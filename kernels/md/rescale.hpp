// The paper's thermostat: at every step the velocities of a slab are scaled to the wanted temperature, all molecules
// together or every type by itself. Local to a slab, so nobody waits for a sum over all slabs. It does not sample an
// ensemble; it is for heating, cooling and driven flows.
#pragma once

#include <cstdint>

#include "dsea/device/for_each.hpp"
#include "dsea/device/reduce.hpp"
#include "kernels/md/integrate.hpp"

namespace dsea::md {

inline namespace DSEA_KERNEL_NAMESPACE {

namespace detail {

/// mass v^2 of molecules of one type (0: of all), or 1 for each.
struct OfType {
  const Sample* samples;
  const Position* position;
  const TypeRow* types;
  int type;
  bool number;
  DSEA_FN double operator()(std::int64_t i) const {
    const int own = tag_type(position[i].tag);
    if (type != 0 && own != type) return 0.0;
    const Velocity& v = samples[i].velocity;
    return number ? 1.0 : types[own - 1].mass * (v.x * v.x + v.y * v.y + v.z * v.z);
  }
};

/// From the sums of m v^2 and the numbers to factors. Where nothing moves, or nothing is, the factor is 1.
struct FindFactors {
  const double* sums;  // m v^2
  const double* numbers;
  double* factors;
  double temperature;
  DSEA_FN void operator()(std::int64_t k) const {
    factors[k] = sums[k] > 0 ? sqrt(3.0 * numbers[k] * temperature / sums[k]) : 1.0;
  }
};

struct Scale {
  Sample* samples;
  const Position* position;
  const double* factors;
  bool each_type;
  DSEA_FN void operator()(std::int64_t i) const {
    const double f = factors[each_type ? tag_type(position[i].tag) - 1 : 0];
    Velocity& v = samples[i].velocity;
    v = {f * v.x, f * v.y, f * v.z};
  }
};

/// The rest of the step, from the scaled velocities at the full step.
struct GoOn {
  Integrate integrate;
  DSEA_FN void operator()(std::int64_t i) const {
    const Sample& s = integrate.samples[i];
    integrate.leave(i, {s.fx, s.fy, s.fz, 0, 0}, s.velocity);
  }
};

}  // namespace detail

/// Scales the velocities in the samples. `work`: 3 x groups numbers; `scratch`: reduce_scratch_bytes(bound).
inline void rescale(Stream& stream, Count molecules, double temperature, bool each_type, int types,
                    const Integrate& integrate, double* work, void* scratch) {
  const int groups = each_type ? types : 1;
  double* const sums = work;
  double* const numbers = work + groups;
  double* const factors = work + 2 * groups;
  for (int k = 0; k < groups; ++k) {
    detail::OfType of{integrate.samples, integrate.position, integrate.types, each_type ? k + 1 : 0, false};
    reduce(stream, molecules, of, sums + k, ReduceOp::sum, scratch);
    of.number = true;
    reduce(stream, molecules, of, numbers + k, ReduceOp::sum, scratch);
  }
  for_each(stream, groups, detail::FindFactors{sums, numbers, factors, temperature});
  for_each(stream, molecules, detail::Scale{integrate.samples, integrate.position, factors, each_type});
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea::md
