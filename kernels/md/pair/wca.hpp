// Weeks, Chandler and Andersen (1971): the repulsive part of Lennard-Jones, cut at its minimum and shifted to 0 there.
#pragma once

#include "kernels/md/pair/lennard_jones.hpp"

namespace dsea::md {

/// u(r) = 4 epsilon ((sigma/r)^12 - (sigma/r)^6) + epsilon for r < 2^(1/6) sigma, else 0.
struct Wca {
  static constexpr const char* name = "wca";

  static PairRow coefficients(const PairSettings& s, int a, int b) {
    const double sigma = s.mixed_arithmetic("sigma", 1.0, positive, a, b);
    constexpr double sixth_root_of_two = 1.122462048309373;
    return LennardJones::row(s.mixed_geometric("epsilon", 1.0, not_negative, a, b), sigma, sixth_root_of_two * sigma,
                             true);
  }

  template <class V, class C>
  DSEA_FN static PairValue<V> evaluate(V r2, const C* c) {
    return LennardJones::evaluate(r2, c);
  }
};

}  // namespace dsea::md
