// The operations of reductions.
#pragma once

#include <limits>

#include "dsea/base/macros.hpp"

namespace dsea {

enum class ReduceOp { sum, min, max };

struct Sum {
  static constexpr double identity = 0.0;
  template <class T>
  DSEA_FN T operator()(T a, T b) const {
    return a + b;
  }
};

/// A NaN on either side stays.
struct Minimum {
  static constexpr double identity = std::numeric_limits<double>::infinity();
  template <class T>
  DSEA_FN T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};

/// A NaN on either side stays.
struct Maximum {
  static constexpr double identity = -std::numeric_limits<double>::infinity();
  template <class T>
  DSEA_FN T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};

}  // namespace dsea
