// 64-bit hashing for layouts and digests. Usable in device code.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "dsea/base/macros.hpp"

namespace dsea {

/// Bijective scrambler of 64 bits; the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
DSEA_FN inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// Order-dependent combination: hash_combine(a, b) != hash_combine(b, a) in general.
DSEA_FN inline std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  return mix64(seed * 0x9e3779b97f4a7c15ULL + mix64(value + 0x632be59bd9b4e019ULL));
}

/// Hash of raw bytes, eight at a time. Every bit counts. Not for padding bytes of structs.
inline std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed = 0) {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint64_t h = hash_combine(seed, bytes);
  for (; bytes >= 8; p += 8, bytes -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = hash_combine(h, word);
  }
  if (bytes > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, bytes);
    h = hash_combine(h, word);
  }
  return h;
}

inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}

}  // namespace dsea
