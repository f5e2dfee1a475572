// Lennard-Jones, truncated, and shifted if asked so that the energy is continuous at the cut-off.
#pragma once

#include "kernels/md/pair/pair_law.hpp"
#include "kernels/md/pair/pair_settings.hpp"

namespace dsea::md {

/// u(r) = 4 epsilon ((sigma/r)^12 - (sigma/r)^6) - shift for r < cutoff, else 0.
struct LennardJones {
  static constexpr const char* name = "lj";

  /// cutoff^2, 48 epsilon sigma^12, 24 epsilon sigma^6, 4 epsilon sigma^12, 4 epsilon sigma^6, energy at the cut-off.
  static PairRow row(double epsilon, double sigma, double cutoff, bool shift) {
    const double sigma2 = sigma * sigma;
    const double sigma6 = sigma2 * sigma2 * sigma2;
    const double energy6 = 4.0 * epsilon * sigma6;
    const double energy12 = energy6 * sigma6;
    const double cutoff2 = cutoff * cutoff;
    const double inverse6 = 1.0 / (cutoff2 * cutoff2 * cutoff2);
    const double at_cutoff = shift ? inverse6 * (energy12 * inverse6 - energy6) : 0.0;
    return {{cutoff2, 12.0 * energy12, 6.0 * energy6, energy12, energy6, at_cutoff}};
  }

  static PairRow coefficients(const PairSettings& s, int a, int b) {
    return row(s.mixed_geometric("epsilon", 1.0, not_negative, a, b), s.mixed_arithmetic("sigma", 1.0, positive, a, b),
               s.mixed_arithmetic("cutoff", 2.5, positive, a, b), s.flag("shift", true));
  }

  template <class V, class C>
  DSEA_FN static PairValue<V> evaluate(V r2, const C* c) {
    const V inverse2 = 1.0 / r2;
    const V inverse6 = inverse2 * inverse2 * inverse2;
    return {inverse2 * (inverse6 * (c[1] * inverse6 - c[2])), inverse6 * (c[3] * inverse6 - c[4]) - c[5]};
  }
};

}  // namespace dsea::md
