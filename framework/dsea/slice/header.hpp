// The header of a slice: what travels in front of its fields.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dsea/slice/layout.hpp"

namespace dsea {

/// Plain bytes, the same on every rank of a job (one architecture a job). Lies in front of every message and file
/// record.
struct SliceHeader {
  static constexpr std::uint64_t magic_value = 0x3161657364736c63ULL;
  /// In front of fields that travel ahead of their slice; the rest follows with a header of its own. Of the fields only
  /// those that come have counts, and `flags` has a bit for each of them.
  static constexpr std::uint64_t ahead_value = 0x6461656861736c63ULL;

  std::uint64_t magic = magic_value;
  std::uint64_t layout_hash = 0;
  std::int64_t slice = -1;
  std::int64_t substep = 0;  ///< worker steps behind the data; may exceed the last one of the run by hand-on steps
  std::int64_t step = 0;     ///< full steps behind the data
  double time = 0;           ///< step x dt, in the program's unit
  double dt = 0;
  std::uint64_t flags = 0;                          ///< for the program, e.g. "velocities are half-step"
  std::int64_t ledger_rows = 0;                     ///< rows of reduced observables behind the fields (last slice only)
  std::int64_t counts[max_fields][max_lanes] = {};  ///< live elements of every field and lane
};
static_assert(std::is_trivially_copyable_v<SliceHeader>);

}  // namespace dsea
