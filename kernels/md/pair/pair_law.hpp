// What a pair law is, and how to add one.
//
// A law is a struct with no members that says how two molecules at distance r act on each other:
//
//   struct MyLaw {
//     static constexpr const char* name = "my_law";           // section of the configuration
//     static PairRow coefficients(const PairSettings& s, int a, int b);   // of types a, b; checks its keys
//     template <class V, class C>
//     DSEA_FN static PairValue<V> evaluate(V r2, const C* c);  // for r2 = r^2 < c[0]
//   };
//
// coefficients() turns what the user wrote for a pair of types into at most eight numbers, the first of which is
// cutoff^2; evaluate() uses nothing else. V is double, or several doubles at once (lanes); with the operators + - * /
// and the functions of lane_math.hpp one text serves both, and the bits are the same. Then add the law to laws.hpp.
#pragma once

#include "dsea/base/macros.hpp"

namespace dsea::md {

/// A row of the table of pairs: cutoff^2 first, then what the law wants. Aligned, so that lanes can load it.
struct alignas(32) PairRow {
  static constexpr int size = 8;
  double c[size] = {};
};

template <class V>
struct PairValue {
  V force_over_r;  ///< -u'(r) / r: times the distance vector from the other one it is the force
  V energy;        ///< of the pair
};

}  // namespace dsea::md
