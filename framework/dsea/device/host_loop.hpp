// Splitting a loop over the host's threads.
#pragma once

#include <algorithm>
#include <cstdint>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace dsea {

/// Calls body(begin, end) for consecutive parts of [0, n), one a thread. A thread gets at least `grain` elements, so
/// that a small loop does not pay for waking the others; without OpenMP, or from inside a parallel region, there is one
/// part. body must not throw.
template <class Body>
void parallel_ranges(int threads, std::int64_t n, std::int64_t grain, const Body& body) {
  if (n <= 0) return;
#if defined(_OPENMP)
  const std::int64_t most = n / std::max<std::int64_t>(grain, 1);
  const int team = static_cast<int>(std::min<std::int64_t>(threads, most));
  if (team > 1) {
#pragma omp parallel num_threads(team)
    {
      const std::int64_t parts = omp_get_num_threads();
      const std::int64_t part = omp_get_thread_num();
      body(n / parts * part + std::min(n % parts, part), n / parts * (part + 1) + std::min(n % parts, part + 1));
    }
    return;
  }
#else
  static_cast<void>(threads);
  static_cast<void>(grain);
#endif
  body(std::int64_t{0}, n);
}

/// Elements a thread gets at least: F::grain where the functor states it, else the default.
template <class F>
constexpr std::int64_t grain_of(std::int64_t otherwise) {
  if constexpr (requires { F::grain; }) {
    return F::grain;
  } else {
    return otherwise;
  }
}

}  // namespace dsea
