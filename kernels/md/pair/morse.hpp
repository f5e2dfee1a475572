// Morse (1929), truncated, and shifted if asked.
#pragma once

#include "kernels/md/pair/lane_math.hpp"
#include "kernels/md/pair/pair_law.hpp"
#include "kernels/md/pair/pair_settings.hpp"

namespace dsea::md {

/// u(r) = depth (exp(-2 alpha (r - r0)) - 2 exp(-alpha (r - r0))) - shift for r < cutoff, else 0.
struct Morse {
  static constexpr const char* name = "morse";

  /// cutoff^2, depth, alpha, r0, 2 depth alpha, energy at the cut-off.
  static PairRow coefficients(const PairSettings& s, int a, int b) {
    const double depth = s.mixed_geometric("depth", 1.0, not_negative, a, b);
    const double alpha = s.mixed_arithmetic("alpha", 5.0, positive, a, b);
    const double r0 = s.mixed_arithmetic("r0", 1.1, positive, a, b);
    const double cutoff = s.mixed_arithmetic("cutoff", 2.5, positive, a, b);
    PairRow row{{cutoff * cutoff, depth, alpha, r0, 2.0 * depth * alpha, 0.0}};
    if (s.flag("shift", true)) row.c[5] = evaluate(row.c[0], row.c).energy;
    return row;
  }

  template <class V, class C>
  DSEA_FN static PairValue<V> evaluate(V r2, const C* c) {
    const V r = lane_sqrt(r2);
    const V e = lane_exp((c[3] - r) * c[2]);
    return {c[4] * (e * e - e) / r, c[1] * (e * e - 2.0 * e) - c[5]};
  }
};

}  // namespace dsea::md
