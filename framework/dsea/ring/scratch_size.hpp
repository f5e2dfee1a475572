// How much scratch memory a worker needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dsea {

/// Adds up calls of Stage::scratch() as the stage does, which pads each of them:
///
///   problem.scratch_bytes = dsea::ScratchSize{}.add<Place>(capacity).add<int>(capacity + 1).bytes();
///
/// Every call of run(), merge() and finish() starts anew, so Problem::scratch_bytes is the largest of their needs.
class ScratchSize {
 public:
  /// Parts begin at multiples of so many bytes.
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

  /// One call of Stage::scratch<T>(n).
  template <class T>
  constexpr ScratchSize& add(std::int64_t n) {
    bytes_ += padded(static_cast<std::size_t>(n) * sizeof(T));
    return *this;
  }

  constexpr std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace dsea
