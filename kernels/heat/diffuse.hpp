// What a heat worker computes for each cell of a plane: the kernels, without a ring.
#pragma once

#include <cstdint>

#include "dsea/dsea.hpp"

namespace heat {

/// The cells along one axis. Beyond an insulated face lies the mirror image: the last cell again.
struct Axis {
  std::int64_t n, before_first, after_last;
  static Axis of(std::int64_t n, bool periodic) { return {n, periodic ? n - 1 : 0, periodic ? 0 : n - 1}; }
  DSEA_FN std::int64_t before(std::int64_t i) const { return i > 0 ? i - 1 : before_first; }
  DSEA_FN std::int64_t after(std::int64_t i) const { return i < n - 1 ? i + 1 : after_last; }
};

/// One explicit step of one plane: seven points, r = diffusivity x dt / dx^2. A row runs along y.
struct Diffuse {
  static constexpr int margin = 1;  // the first and last cell of a row have neighbours elsewhere
  dsea::View<const double> left, here, right;
  dsea::View<double> next;
  Axis y, z;
  double r;

  template <class Inner>
  DSEA_FN void operator()(std::int64_t row, std::int64_t j, Inner) const {
    const std::int64_t at = row * y.n;
    const std::int64_t below = z.before(row) * y.n, above = z.after(row) * y.n;
    const std::int64_t west = Inner::value ? j - 1 : y.before(j), east = Inner::value ? j + 1 : y.after(j);
    const double T = here[at + j];
    const double sum =
        (left[at + j] + right[at + j]) + (here[below + j] + here[above + j]) + (here[at + west] + here[at + east]);
    next[at + j] = T + r * (sum - 6.0 * T);
  }
};

struct Temperature {
  dsea::View<const double> T;
  DSEA_FN double operator()(std::int64_t i) const { return T[i]; }
};

}  // namespace heat
