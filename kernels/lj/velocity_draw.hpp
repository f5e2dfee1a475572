// Velocities to start with: normally distributed, of an exact temperature, with zero momentum.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/lj/philox.hpp"

namespace dsea::md {

/// v = scale x (normal(seed, id) - mean). The temperature is that of 3n-3 degrees of freedom. A molecule's velocity is
/// a function of its id, wherever it is made.
class VelocityDraw {
 public:
  VelocityDraw() = default;

  /// for_each_id(f) calls f(id) for all n molecules, in an order that is always the same.
  template <class ForEachId>
  VelocityDraw(std::uint64_t seed, double temperature, double mass, std::int64_t n, const ForEachId& for_each_id)
      : seed_(seed) {
    if (n < 2) return;  // a single molecule rests
    for_each_id([this](std::int64_t id) {
      const auto g = normal(id);
      for (std::size_t axis = 0; axis < 3; ++axis) mean_[axis] += g[axis];
    });
    for (double& m : mean_) m /= static_cast<double>(n);
    double squares = 0;
    for_each_id([this, &squares](std::int64_t id) {
      const auto g = normal(id);
      for (std::size_t axis = 0; axis < 3; ++axis) squares += (g[axis] - mean_[axis]) * (g[axis] - mean_[axis]);
    });
    scale_ = std::sqrt(temperature * static_cast<double>(3 * n - 3) / (mass * squares));
  }

  std::array<double, 3> operator()(std::int64_t id) const {
    auto v = normal(id);
    for (std::size_t axis = 0; axis < 3; ++axis) v[axis] = scale_ * (v[axis] - mean_[axis]);
    return v;
  }

 private:
  std::array<double, 3> normal(std::int64_t id) const {
    return philox_normal3(seed_, static_cast<std::uint64_t>(id), 0);
  }

  std::uint64_t seed_ = 0;
  std::array<double, 3> mean_{};
  double scale_ = 0;
};

}  // namespace dsea::md
