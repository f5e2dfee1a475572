// Several doubles at a time: four, or eight where the processor has vectors of 64 bytes. For the host compiler only;
// which instructions they become is decided where the code is inlined (for_each_row), on the baseline pairs.
#pragma once

#include <cstdint>
#include <cstring>

// Everything here is inlined, so how such vectors are passed between functions does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace dsea::md {

#define DSEA_INLINE __attribute__((always_inline)) inline

using FourDoubles = double __attribute__((vector_size(32)));
using EightDoubles = double __attribute__((vector_size(64)));
using FourIntegers = std::int64_t __attribute__((vector_size(32)));
using EightIntegers = std::int64_t __attribute__((vector_size(64)));

template <int N>
struct LaneTypes;
template <>
struct LaneTypes<4> {
  using Doubles = FourDoubles;
  using Integers = FourIntegers;
};
template <>
struct LaneTypes<8> {
  using Doubles = EightDoubles;
  using Integers = EightIntegers;
};

template <int N>
struct Lanes {
  using Doubles = typename LaneTypes<N>::Doubles;
  using Integers = typename LaneTypes<N>::Integers;
  static constexpr int width = N;

  Doubles v;

  Lanes() = default;
  DSEA_INLINE Lanes(Doubles d) : v(d) {}             // NOLINT: a number is a number
  DSEA_INLINE Lanes(double d) : v(Doubles{} + d) {}  // NOLINT

  DSEA_INLINE friend Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  DSEA_INLINE friend Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  DSEA_INLINE friend Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
  DSEA_INLINE friend Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }

  DSEA_INLINE void store(double* to) const { std::memcpy(to, &v, sizeof(v)); }
  DSEA_INLINE Integers bits() const {
    Integers i;
    std::memcpy(&i, &v, sizeof(i));
    return i;
  }

  /// All bits where a < b, else none.
  DSEA_INLINE static Integers less(Lanes a, Lanes b) { return a.v < b.v; }
  /// The lane, or +0 where the mask has no bits.
  DSEA_INLINE Lanes where(Integers mask) const { return mask ? v : Doubles{}; }
};

DSEA_INLINE FourDoubles load_row(const void* from) {
  FourDoubles a;
  std::memcpy(&a, from, sizeof(a));
  return a;
}

/// Four numbers that follow each other in memory, of each lane: to[k] has the k-th ones. address(lane) says where.
template <class Address>
DSEA_INLINE void load_four(Lanes<4> (&to)[4], const Address& address) {
  const FourDoubles a = load_row(address(0)), b = load_row(address(1));
  const FourDoubles c = load_row(address(2)), d = load_row(address(3));
  const FourDoubles low_ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const FourDoubles low_cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const FourDoubles high_ab = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const FourDoubles high_cd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  to[0].v = __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5);
  to[1].v = __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5);
  to[2].v = __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7);
  to[3].v = __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7);
}

DSEA_INLINE EightDoubles load_rows(const void* low, const void* high) {
  return __builtin_shufflevector(load_row(low), load_row(high), 0, 1, 2, 3, 4, 5, 6, 7);
}

template <class Address>
DSEA_INLINE void load_four(Lanes<8> (&to)[4], const Address& address) {
  const EightDoubles a = load_rows(address(0), address(4)), b = load_rows(address(1), address(5));
  const EightDoubles c = load_rows(address(2), address(6)), d = load_rows(address(3), address(7));
  const EightDoubles low_ab = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
  const EightDoubles low_cd = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
  const EightDoubles high_ab = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  const EightDoubles high_cd = __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
  to[0].v = __builtin_shufflevector(low_ab, low_cd, 0, 1, 8, 9, 4, 5, 12, 13);
  to[1].v = __builtin_shufflevector(high_ab, high_cd, 0, 1, 8, 9, 4, 5, 12, 13);
  to[2].v = __builtin_shufflevector(low_ab, low_cd, 2, 3, 10, 11, 6, 7, 14, 15);
  to[3].v = __builtin_shufflevector(high_ab, high_cd, 2, 3, 10, 11, 6, 7, 14, 15);
}

// For pair laws; see pair/lane_math.hpp.
template <int N>
DSEA_INLINE Lanes<N> lane_sqrt(Lanes<N> a) {
  for (int lane = 0; lane < N; ++lane) a.v[lane] = __builtin_sqrt(a.v[lane]);
  return a;
}
template <int N>
DSEA_INLINE Lanes<N> lane_clamp(Lanes<N> x, double low, double high) {
  const Lanes<N> l(low), h(high);
  x.v = x.v < l.v ? l.v : x.v;
  x.v = x.v > h.v ? h.v : x.v;
  return x;
}
template <int N>
DSEA_INLINE Lanes<N> lane_power_of_two(Lanes<N> n) {
  // n + 1.5 x 2^52 has n + 2^51 in its low bits; the exponent's field starts at bit 52.
  const Lanes<N> shifted = n + (6755399441055744.0 + 1023.0);
  const typename Lanes<N>::Integers exponent = shifted.bits() << 52;
  Lanes<N> result;
  std::memcpy(&result.v, &exponent, sizeof(result.v));
  return result;
}

}  // namespace dsea::md
