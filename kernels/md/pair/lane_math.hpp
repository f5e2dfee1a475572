// Functions for pair laws, from additions and multiplications only, so that they give the same bits for one number
// and for lanes, on every instruction set.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "dsea/base/macros.hpp"

namespace dsea::md {

DSEA_FN inline double lane_sqrt(double x) {
#if defined(__CUDA_ARCH__)
  return sqrt(x);
#else
  return __builtin_sqrt(x);  // correctly rounded everywhere
#endif
}

/// 2^n for whole n in -1022 .. 1023.
DSEA_FN inline double lane_power_of_two(double n) {
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52;
  double result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

/// x within [low, high].
DSEA_FN inline double lane_clamp(double x, double low, double high) { return x < low ? low : (x > high ? high : x); }

/// exp(x), to about 2 units in the last place; x is cut to [-708, 709]. x = n ln 2 + r with |r| <= ln 2 / 2, exp(r) by
/// its Taylor series up to r^13 (the rest is below 1e-17), n ln 2 in two parts (Cody and Waite, 1980).
template <class V>
DSEA_FN inline V lane_exp(V x) {
  constexpr double round = 6755399441055744.0;  // 1.5 x 2^52: adding it rounds to a whole number
  x = lane_clamp(x, -708.0, 709.0);
  const V n = (x * 1.4426950408889634 + round) - round;
  const V r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  V sum = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  return sum * lane_power_of_two(n);
}

}  // namespace dsea::md
