// A cover of all pairs: few combinations of settings in which each value of each setting meets each value of every
// other one.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace dsea::test {

/// `values`: how many values each setting has. Every result has one number a setting, from 0. Greedy and deterministic:
/// of some random combinations the one with most new pairs is taken, until no pair is missing.
inline std::vector<std::vector<int>> pairwise(const std::vector<int>& values, unsigned seed = 1) {
  const std::size_t n = values.size();
  std::vector<std::vector<int>> all;
  const auto met = [&](std::size_t a, int va, std::size_t b, int vb) {
    for (const auto& c : all) {
      if (c[a] == va && c[b] == vb) return true;
    }
    return false;
  };
  std::mt19937 random(seed);
  for (;;) {
    std::vector<int> best;
    int most = 0;
    for (int attempt = 0; attempt < 200; ++attempt) {
      std::vector<int> c(n);
      for (std::size_t a = 0; a < n; ++a) c[a] = static_cast<int>(random() % static_cast<unsigned>(values[a]));
      int fresh = 0;
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = a + 1; b < n; ++b) fresh += met(a, c[a], b, c[b]) ? 0 : 1;
      }
      if (fresh > most) {
        most = fresh;
        best = c;
      }
    }
    if (most == 0) return all;
    all.push_back(best);
  }
}

}  // namespace dsea::test
