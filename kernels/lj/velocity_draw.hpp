// Velocities to start with: normally distributed, of an exact temperature, with zero momentum.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/lj/philox.hpp"

namespace dsea::md {

/// v = scale x (normal(seed, id) / sqrt(mass) - mean), where the mean is that of the momentum over that of the mass.
/// The temperature is that of 3n-3 degrees of freedom. A molecule's velocity is a function of its id and mass, wherever
/// it is made.
class VelocityDraw {
 public:
  VelocityDraw() = default;

  /// for_each(f) calls f(id, mass) for all n molecules, in an order that is always the same.
  template <class ForEach>
  VelocityDraw(std::uint64_t seed, double temperature, std::int64_t n, const ForEach& for_each) : seed_(seed) {
    if (n < 2) return;  // a single molecule rests
    // One pass: sum m (u - mean)^2 = sum m u^2 - M mean^2, and the mean is tiny.
    double mass_of_all = 0;
    double squares = 0;
    for_each([this, &mass_of_all, &squares](std::int64_t id, double mass) {
      const auto u = normal(id, mass);
      mass_of_all += mass;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        mean_[axis] += mass * u[axis];
        squares += mass * u[axis] * u[axis];
      }
    });
    for (double& m : mean_) {
      m /= mass_of_all;
      squares -= mass_of_all * m * m;
    }
    scale_ = std::sqrt(temperature * static_cast<double>(3 * n - 3) / squares);
  }

  std::array<double, 3> operator()(std::int64_t id, double mass) const {
    auto v = normal(id, mass);
    for (std::size_t axis = 0; axis < 3; ++axis) v[axis] = scale_ * (v[axis] - mean_[axis]);
    return v;
  }

 private:
  std::array<double, 3> normal(std::int64_t id, double mass) const {
    const Normal3 g = philox_normal3(seed_, static_cast<std::uint64_t>(id), 0);
    const double unit = 1.0 / std::sqrt(mass);
    return {unit * g.x, unit * g.y, unit * g.z};
  }

  std::uint64_t seed_ = 0;
  std::array<double, 3> mean_{};
  double scale_ = 0;
};

}  // namespace dsea::md
