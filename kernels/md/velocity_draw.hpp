// Velocities to start with: normally distributed, of an exact temperature, with zero momentum.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dsea/device/host_loop.hpp"
#include "kernels/md/philox.hpp"

namespace dsea::md {

/// v = scale x (normal(seed, id) / sqrt(mass) - mean), where the mean is that of the momentum over that of the mass.
/// The temperature is that of 3n-3 degrees of freedom. A molecule's velocity is a function of its id and mass, wherever
/// it is made.
class VelocityDraw {
 public:
  VelocityDraw() = default;

  /// What there is to know of a molecule.
  struct Molecule {
    std::int64_t id;
    double mass;
  };

  /// molecule(i) is the Molecule number i = 0 .. n-1; several threads call it. The sums over all are made of parts that
  /// do not depend on the number of threads, so the velocities do not either.
  template <class MoleculeAt>
  VelocityDraw(std::uint64_t seed, double temperature, std::int64_t n, const MoleculeAt& molecule) : seed_(seed) {
    if (n < 2) return;  // a single molecule rests
    std::vector<Sums> parts(static_cast<std::size_t>((n + part_size - 1) / part_size));
    parallel_ranges(most_threads(), static_cast<std::int64_t>(parts.size()), 1,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin * part_size; i < std::min(n, end * part_size); ++i) {
                        const Molecule m = molecule(i);
                        parts[static_cast<std::size_t>(i / part_size)].add(m.mass, normal(m.id, m.mass));
                      }
                    });
    Sums all;
    for (const Sums& part : parts) all.add(part);
    // sum m (u - mean)^2 = sum m u^2 - M mean^2, and the mean is tiny.
    for (std::size_t axis = 0; axis < 3; ++axis) {
      mean_[axis] = all.momentum[axis] / all.mass;
      all.squares -= all.mass * mean_[axis] * mean_[axis];
    }
    scale_ = std::sqrt(temperature * static_cast<double>(3 * n - 3) / all.squares);
  }

  std::array<double, 3> operator()(std::int64_t id, double mass) const {
    auto v = normal(id, mass);
    for (std::size_t axis = 0; axis < 3; ++axis) v[axis] = scale_ * (v[axis] - mean_[axis]);
    return v;
  }

 private:
  static constexpr std::int64_t part_size = 4096;  // molecules

  struct Sums {
    double mass = 0;
    std::array<double, 3> momentum{};
    double squares = 0;

    void add(double m, const std::array<double, 3>& u) {
      mass += m;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        momentum[axis] += m * u[axis];
        squares += m * u[axis] * u[axis];
      }
    }
    void add(const Sums& other) {
      mass += other.mass;
      for (std::size_t axis = 0; axis < 3; ++axis) momentum[axis] += other.momentum[axis];
      squares += other.squares;
    }
  };

  static int most_threads() {
#if defined(_OPENMP)
    return omp_get_max_threads();
#else
    return 1;
#endif
  }

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
