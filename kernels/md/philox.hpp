// Counter-based random numbers: Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as
// easy as 1, 2, 3; 2011). A number is a function of key and counter, so it does not matter who draws it and when.
#pragma once

#include <cmath>
#include <cstdint>

#include "dsea/base/macros.hpp"

namespace dsea::md {

struct Philox4 {
  std::uint32_t word[4];
  bool operator==(const Philox4&) const = default;
};

DSEA_FN inline Philox4 philox4x32(Philox4 counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

struct Normal3 {
  double x, y, z;
};

/// Three independent standard normal numbers for (seed, id, purpose), by Box and Muller. Uniform numbers have 32 bits.
/// Purpose 0 is the start; a step t draws for purpose t + 1.
DSEA_FN inline Normal3 philox_normal3(std::uint64_t seed, std::uint64_t id, std::uint64_t purpose) {
  const Philox4 bits = philox4x32({{static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32),
                                    static_cast<std::uint32_t>(purpose), static_cast<std::uint32_t>(purpose >> 32)}},
                                  static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  constexpr double two_pi = 6.283185307179586;
  constexpr double unit = 1.0 / 4294967296.0;
  const double r1 = sqrt(-2.0 * log((bits.word[0] + 0.5) * unit));
  const double r2 = sqrt(-2.0 * log((bits.word[2] + 0.5) * unit));
  const double angle1 = two_pi * ((bits.word[1] + 0.5) * unit);
  const double angle2 = two_pi * ((bits.word[3] + 0.5) * unit);
  return {r1 * cos(angle1), r1 * sin(angle1), r2 * cos(angle2)};
}

}  // namespace dsea::md
