// The pair law: Lennard-Jones, truncated, and shifted so that the energy is continuous at the cut-off.
#pragma once

#include "dsea/base/macros.hpp"

namespace dsea::md {

/// u(r) = 4 epsilon ((sigma/r)^12 - (sigma/r)^6) - shift for r < cutoff, else 0.
struct LennardJones {
  double cutoff2 = 0;        ///< cutoff^2: pairs at this distance or beyond add nothing
  double force12 = 0;        ///< 48 epsilon sigma^12
  double force6 = 0;         ///< 24 epsilon sigma^6
  double energy12 = 0;       ///< 4 epsilon sigma^12
  double energy6 = 0;        ///< 4 epsilon sigma^6
  double energy_at_cut = 0;  ///< what is subtracted

  LennardJones() = default;
  LennardJones(double epsilon, double sigma, double cutoff, bool shift) : cutoff2(cutoff * cutoff) {
    const double sigma2 = sigma * sigma;
    const double sigma6 = sigma2 * sigma2 * sigma2;
    energy6 = 4.0 * epsilon * sigma6;
    energy12 = energy6 * sigma6;
    force6 = 6.0 * energy6;
    force12 = 12.0 * energy12;
    const double inverse6 = 1.0 / (cutoff2 * cutoff2 * cutoff2);
    energy_at_cut = shift ? inverse6 * (energy12 * inverse6 - energy6) : 0.0;
  }

  struct Value {
    double force_over_r;  ///< times the distance vector from the other one: the force
    double energy;        ///< of the pair
  };

  /// For r2 = distance^2 < cutoff2.
  DSEA_FN Value operator()(double r2) const {
    const double inverse2 = 1.0 / r2;
    const double inverse6 = inverse2 * inverse2 * inverse2;
    return {inverse6 * (force12 * inverse6 - force6) * inverse2,
            inverse6 * (energy12 * inverse6 - energy6) - energy_at_cut};
  }
};

}  // namespace dsea::md
