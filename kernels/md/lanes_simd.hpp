// Four doubles at a time. For the host compiler only; which instructions they become is decided where the code is
// inlined (for_each_row), on the baseline two pairs.
#pragma once

#include <cstdint>
#include <cstring>

// Everything here is inlined, so how such vectors are passed between functions does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace dsea::md {

struct Lanes {
  using Doubles = double __attribute__((vector_size(32)));
  using Integers = std::int64_t __attribute__((vector_size(32)));
  static constexpr int width = 4;

  Doubles v;

  Lanes() = default;
  __attribute__((always_inline)) Lanes(Doubles d) : v(d) {}                   // NOLINT: a number is a number
  __attribute__((always_inline)) Lanes(double d) : v(Doubles{d, d, d, d}) {}  // NOLINT

  __attribute__((always_inline)) friend Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  __attribute__((always_inline)) friend Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  __attribute__((always_inline)) friend Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
  __attribute__((always_inline)) friend Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }

  __attribute__((always_inline)) static Lanes load(const void* from) {
    Lanes a;
    std::memcpy(&a.v, from, sizeof(a.v));
    return a;
  }
  __attribute__((always_inline)) void store(double* to) const { std::memcpy(to, &v, sizeof(v)); }
  __attribute__((always_inline)) Integers bits() const {
    Integers i;
    std::memcpy(&i, &v, sizeof(i));
    return i;
  }

  /// All bits where a < b, else none.
  __attribute__((always_inline)) static Integers less(Lanes a, Lanes b) { return a.v < b.v; }
  /// The lane, or +0 where the mask has no bits.
  __attribute__((always_inline)) Lanes where(Integers mask) const {
    const Integers kept = bits() & mask;
    Lanes a;
    std::memcpy(&a.v, &kept, sizeof(a.v));
    return a;
  }

  /// Rows become columns.
  __attribute__((always_inline)) static void transpose(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    const Doubles low_ab = __builtin_shuffle(a.v, b.v, Integers{0, 4, 2, 6});
    const Doubles high_ab = __builtin_shuffle(a.v, b.v, Integers{1, 5, 3, 7});
    const Doubles low_cd = __builtin_shuffle(c.v, d.v, Integers{0, 4, 2, 6});
    const Doubles high_cd = __builtin_shuffle(c.v, d.v, Integers{1, 5, 3, 7});
    a.v = __builtin_shuffle(low_ab, low_cd, Integers{0, 1, 4, 5});
    b.v = __builtin_shuffle(high_ab, high_cd, Integers{0, 1, 4, 5});
    c.v = __builtin_shuffle(low_ab, low_cd, Integers{2, 3, 6, 7});
    d.v = __builtin_shuffle(high_ab, high_cd, Integers{2, 3, 6, 7});
  }
};

// For pair laws; see pair/lane_math.hpp.
__attribute__((always_inline)) inline Lanes lane_sqrt(Lanes a) {
  return Lanes(
      Lanes::Doubles{__builtin_sqrt(a.v[0]), __builtin_sqrt(a.v[1]), __builtin_sqrt(a.v[2]), __builtin_sqrt(a.v[3])});
}
__attribute__((always_inline)) inline Lanes lane_clamp(Lanes x, double low, double high) {
  const Lanes l(low), h(high);
  x.v = x.v < l.v ? l.v : x.v;
  x.v = x.v > h.v ? h.v : x.v;
  return x;
}
__attribute__((always_inline)) inline Lanes lane_power_of_two(Lanes n) {
  // n + 1.5 x 2^52 has n + 2^51 in its low bits; the exponent's field starts at bit 52.
  const Lanes shifted = n + (6755399441055744.0 + 1023.0);
  const Lanes::Integers exponent = shifted.bits() << 52;
  Lanes result;
  std::memcpy(&result.v, &exponent, sizeof(result.v));
  return result;
}

}  // namespace dsea::md
