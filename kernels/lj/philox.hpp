// Counter-based random numbers: Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as
// easy as 1, 2, 3; 2011). A number is a function of key and counter, so it does not matter who draws it and when.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace dsea::md {

using Philox4 = std::array<std::uint32_t, 4>;

inline Philox4 philox4x32(Philox4 counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// Three independent standard normal numbers for (seed, id, purpose), by Box and Muller. Uniform numbers have 32 bits.
inline std::array<double, 3> philox_normal3(std::uint64_t seed, std::uint64_t id, std::uint32_t purpose) {
  const Philox4 bits = philox4x32({static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32), purpose, 0},
                                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const auto uniform = [&bits](int i) { return (bits[static_cast<std::size_t>(i)] + 0.5) * 0x1p-32; };
  constexpr double two_pi = 6.283185307179586;
  const double r1 = std::sqrt(-2.0 * std::log(uniform(0)));
  const double r2 = std::sqrt(-2.0 * std::log(uniform(2)));
  return {r1 * std::cos(two_pi * uniform(1)), r1 * std::sin(two_pi * uniform(1)), r2 * std::cos(two_pi * uniform(3))};
}

}  // namespace dsea::md
