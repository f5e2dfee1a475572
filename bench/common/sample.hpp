// Times, and what is made of several measurements of one thing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace bench {

/// Seconds since some moment.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Sample {
  std::vector<double> values;
  double at(double share) const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
  double median() const { return at(0.5); }
};

/// Round by round.
inline Sample ratio(const Sample& a, const Sample& b) {
  Sample r;
  for (std::size_t i = 0; i < a.values.size(); ++i) r.values.push_back(a.values[i] / b.values[i]);
  return r;
}

/// The table's head, and a line of it in some unit.
inline void print_head() { std::printf("%-36s %10s %10s %10s\n", "", "median", "least", "most"); }
inline void print_line(const char* name, const Sample& s, double unit) {
  std::printf("%-36s %10.3f %10.3f %10.3f\n", name, s.median() / unit, s.at(0) / unit, s.at(1) / unit);
}

}  // namespace bench
