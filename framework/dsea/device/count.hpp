// How many elements a kernel runs over.
#pragma once

#include <concepts>
#include <cstdint>

#include "dsea/base/macros.hpp"

namespace dsea {

/// A number the host knows, or one that lives in device memory and is read when the kernel runs, with a bound that the
/// host knows. A kernel runs over min(*live, bound) elements; less than 0 counts as 0.
struct Count {
  const std::int64_t* live = nullptr;  ///< device memory; null: the bound is the number
  std::int64_t bound = 0;

  Count() = default;
  template <std::integral Integer>
  Count(Integer n) : bound(static_cast<std::int64_t>(n)) {}  // NOLINT: for_each(stream, n, f) reads well
  Count(const std::int64_t* live_count, std::int64_t upper_bound) : live(live_count), bound(upper_bound) {}

  /// Where the kernel runs, when it runs.
  DSEA_FN std::int64_t value() const {
    const std::int64_t n = live != nullptr && *live < bound ? *live : bound;
    return n > 0 ? n : 0;
  }
};

}  // namespace dsea
