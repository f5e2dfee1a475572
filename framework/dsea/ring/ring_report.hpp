// What a rank knows about its run when it is over.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "dsea/ring/program.hpp"

namespace dsea {

/// Plain bytes: sent to rank 0.
struct RankReport {
  int rank = 0;
  int ranks = 1;
  int workers = 0;
  std::uint64_t digest = 0;        ///< sum over the slices that left the ring here; all ranks' sum is the state's
  std::int64_t exited = 0;         ///< slices that left the ring here
  std::int64_t step = 0;           ///< full steps behind them
  std::int64_t loaded = 0;         ///< slices made here
  std::int64_t received = 0;       ///< slices that came from the previous rank
  std::int64_t sent = 0;           ///< slices handed to the next rank
  std::int64_t sent_ahead = 0;     ///< of them those whose final fields left before the slice was complete
  std::int64_t fewest_passes = 0;  ///< of any slice through this rank's first worker: all super-cycles if it is right
  std::uint64_t sent_bytes = 0;    ///< headers and ledgers included
  std::int64_t stages = 0;         ///< worker steps of slices, handing on included
  double wall_seconds = 0;         ///< loading included
  double kernel_seconds = 0;       ///< sum over stages
  double steady_seconds = 0;       ///< between the first and the last super-cycle's end at the last worker
  double steady_steps = 0;         ///< full steps in that time (a fraction in multi-kind programs); 0: no steady part
  double steady_kernel_seconds = 0;
  double main_cpu_seconds = 0;
  std::array<double, max_phases> phase_seconds{};  ///< of kernel_seconds, by Problem::phases
};
static_assert(std::is_trivially_copyable_v<RankReport>);

/// Reports of all ranks on rank 0, of the rank itself elsewhere.
struct RingOutcome {
  std::vector<RankReport> ranks;
  std::uint64_t digest = 0;  ///< of the whole state; rank 0 only
  std::int64_t step = 0;
  double wall_seconds = 0;    ///< longest of all ranks
  double steady_seconds = 0;  ///< of the last rank
  double steady_steps = 0;
};

}  // namespace dsea
