// The order in which threads and blocks run: whatever it is, a correct kernel gives the same result.
#pragma once

#include <cstdint>
#include <string>

namespace shim {

/// A permutation of [0, n) that needs no memory.
class Permutation {
 public:
  /// place -> (first + place * stride) mod n, with a stride that has no factor in common with n.
  Permutation(std::uint64_t n, std::uint64_t first, std::uint64_t stride) : n_(n), at_(first), stride_(stride) {}

  /// The next of n numbers; begins again after them.
  std::uint64_t next() {
    const std::uint64_t here = at_;
    at_ += stride_;
    if (at_ >= n_) at_ -= n_;
    return here;
  }

 private:
  std::uint64_t n_, at_, stride_;
};

class Order {
 public:
  enum class Kind { forward, reverse, random };

  Order() = default;

  /// "forward", "reverse" or "random:SEED". Throws std::invalid_argument.
  explicit Order(const std::string& text);

  /// From the environment variable DSEA_SHIM_ORDER, forward without it. Ends the process if that makes no sense.
  static Order from_environment();

  /// Another one at every call if the order is random. n >= 1, below 2^62.
  Permutation permutation(std::uint64_t n);

  /// How often the work before an event is asked for before it is run: 1 forward, 4 reverse, else 1 to 5.
  int patience();

 private:
  std::uint64_t random();

  Kind kind_ = Kind::forward;
  std::uint64_t state_ = 0;
};

}  // namespace shim
