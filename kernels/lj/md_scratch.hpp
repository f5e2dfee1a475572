// Work space of the workers, and the codes of the faults they report.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dsea/device/scan.hpp"
#include "kernels/cell_list/molecules.hpp"

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

/// Bytes of Stage::scratch() that run(), merge() and finish() need at most, for slabs of `capacity` molecules, of which
/// `away` may go to each neighbour, and `cells` cells.
inline std::size_t md_scratch_bytes(std::int64_t capacity, std::int64_t away, std::int64_t cells) {
  const auto part = [](std::int64_t n, std::size_t size) {
    return (static_cast<std::size_t>(n) * size + 63) / 64 * 64;
  };
  const auto scan = [&part](std::int64_t n) {
    return part(static_cast<std::int64_t>(exclusive_scan_scratch_bytes(n)), 1);
  };
  const std::size_t run = part(capacity, sizeof(Sample)) + part(capacity, sizeof(Moved)) +
                          2 * part(capacity + 1, sizeof(std::int32_t)) + scan(capacity);
  const std::size_t merge = 2 * part(capacity, sizeof(std::int32_t)) + 2 * part(away, sizeof(std::int32_t)) +
                            part(cells, sizeof(std::int32_t)) + scan(cells);
  return std::max(run, merge);
}

}  // namespace dsea::md
