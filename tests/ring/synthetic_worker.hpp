// What a synthetic worker computes: shared by the simulated ring and the brute-force sweep, which differ in how they
// find a slab's neighbours and when they look at them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ring/simulated_ring.hpp"

namespace dsea::sim {

/// A hash in which the order of everything matters.
class Hash {
 public:
  explicit Hash(std::uint64_t seed) : h_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  template <class T>
  Hash& add(T value) {
    h_ = (h_ ^ static_cast<std::uint64_t>(value)) * 0xff51afd7ed558ccdULL;
    h_ ^= h_ >> 29;
    h_ *= 0xc4ceb9fe1a85ec53ULL;
    h_ ^= h_ >> 32;
    return *this;
  }
  std::uint64_t value() const { return h_; }

 private:
  std::uint64_t h_;
};

constexpr std::uint64_t absent_mark = 0xab5e27;

/// Adds what a worker sees of one input slab; null: beyond an open end.
inline void add_input(Hash& hash, const SimKind& kind, const Slab* slab, int shift) {
  if (slab == nullptr) {
    hash.add(absent_mark);
    return;
  }
  hash.add(shift);
  for (std::size_t f = 0; f < slab->size(); ++f) {
    if (kind.uses[f] != Use::carry) hash.add((*slab)[f]);
  }
}

inline std::uint64_t written(std::uint64_t input, int field) { return Hash(1).add(input).add(field).value(); }
inline std::uint64_t contributed(std::uint64_t input, int field, int d) {
  return Hash(2).add(input).add(field).add(d).value();
}
inline std::uint64_t observed(std::uint64_t input) { return Hash(3).add(input).value(); }

/// `region(d)`: what the worker at slab i+d contributed to slab i, or nothing.
template <class Region>
std::uint64_t merged(std::int64_t substep, int slab, int field, int out, Region region) {
  Hash hash(4);
  hash.add(substep).add(slab).add(field);
  for (int d = -out; d <= out; ++d) hash.add(region(d).value_or(absent_mark));
  return hash.value();
}

inline std::uint64_t reduced(const std::vector<std::uint64_t>& values) {
  Hash hash(5);
  for (std::uint64_t v : values) hash.add(v);
  return hash.value();
}

/// What a job starts its hash with; `feedback`: the sum it asked for.
inline Hash job_hash(std::int64_t substep, std::int64_t step, int kind, int slab, std::uint64_t feedback) {
  Hash hash(6);
  hash.add(substep).add(step).add(kind).add(slab).add(feedback);
  return hash;
}

}  // namespace dsea::sim
