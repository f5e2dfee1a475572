// Work space of the workers, and the codes of the faults they report.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dsea/device/reduce.hpp"
#include "dsea/device/scan.hpp"
#include "dsea/ring/scratch_size.hpp"
#include "kernels/cell_list/molecules.hpp"
#include "kernels/cell_list/packed.hpp"

namespace dsea::md {

/// Codes of what FaultReporter is told; the element is the molecule's id.
enum class MdFault : int { not_finite = 1, too_far = 2 };

/// What is observed of a molecule at a full step.
struct Sample {
  double fx, fy, fz;
  double potential;   ///< its half of the pair energies
  Velocity velocity;  ///< at the full step
  double virial;      ///< its half of the sum of r . f
};

/// Memory that is handed out piece by piece, aligned as by Stage::scratch(). Without memory it only adds up what is
/// asked for.
class Arena {
 public:
  Arena() = default;
  explicit Arena(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* take(std::int64_t n) {
    std::byte* at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += ScratchSize::padded(static_cast<std::size_t>(n) * sizeof(T));
    return reinterpret_cast<T*>(at);
  }
  void* take_bytes(std::size_t n) { return take<std::byte>(static_cast<std::int64_t>(n)); }
  std::size_t used() const { return used_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace dsea::md
