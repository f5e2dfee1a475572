// A kernel over teams: groups of lanes that share scratch memory and work in phases.
//
//   struct RowMaximum {                              // maximum of each row of 64 numbers
//     static constexpr int phases = 3;
//     const double* x; double* result;
//     DSEA_FN void operator()(const dsea::Team& team, int phase, int lane) const {
//       double* s = team.scratch<double>();
//       if (phase == 0) s[lane] = x[team.index * team.size + lane];
//       if (phase == 1) team.fold(s, team.size, lane, dsea::Maximum{});
//       if (phase == 2 && lane == 0) result[team.index] = s[0];
//     }
//   };
//   for_each_team(stream, rows, 64, 64 * sizeof(double), RowMaximum{x, result});
//
// All lanes of a team finish a phase before any begins the next. On a GPU a team is a block and a phase ends with
// __syncthreads(); on the host the phases are loops over the lanes. Hence:
// - nothing survives from one phase to the next except what is in scratch or in device memory;
// - within a phase no lane reads what another lane of the team writes in that phase;
// - teams do not see each other's writes; scratch starts with unspecified contents.
// The functor may state `grain`: the least number of teams worth a host thread (default 16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dsea/base/macros.hpp"
#include "dsea/device/count.hpp"
#include "dsea/device/for_each.hpp"
#include "dsea/device/host_loop.hpp"
#include "dsea/device/launch.hpp"
#include "dsea/device/reduce_op.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {
inline namespace DSEA_KERNEL_NAMESPACE {

/// What a lane knows of its team.
struct Team {
  std::int64_t index = 0;  ///< of the team
  int size = 0;            ///< lanes
  void* scratch_memory = nullptr;
  bool parallel_lanes = false;  ///< the lanes are threads that meet at barriers

  /// The team's scratch memory from this byte on; 16-byte aligned.
  template <class T>
  DSEA_FN T* scratch(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<T*>(static_cast<unsigned char*>(scratch_memory) + offset_bytes);
  }

  /// Folds array[0..n) into array[0] and leaves partial results in the others. Called by all lanes of the team with the
  /// same arguments; the array was filled in an earlier phase, the result is read in a later one. n >= 1.
  /// Order: with h the largest power of two below n, array[j] = op(array[j], array[j + h]) for all j with j + h < n,
  /// then the same with h/2, h/4 ... 1. The order depends on n only, so both back ends give the same bits.
  template <class T, class Op>
  DSEA_FN void fold(T* array, int n, int lane, Op op) const {
    int half = 1;
    while (2 * half < n) half *= 2;
#if defined(__CUDA_ARCH__) || defined(DSEA_CUDA_SHIM)
    if (parallel_lanes) {
      for (; half >= 1; half /= 2) {
        for (int j = lane; j < half && j + half < n; j += size) array[j] = op(array[j], array[j + half]);
        __syncthreads();
      }
      return;
    }
#endif
    if (lane != 0) return;
    for (; half >= 1; half /= 2) {
      for (int j = 0; j < half && j + half < n; ++j) array[j] = op(array[j], array[j + half]);
    }
  }

  /// fold() with +.
  template <class T>
  DSEA_FN void sum(T* array, int n, int lane) const {
    fold(array, n, lane, Sum{});
  }
};

namespace kernel_detail {

#if DSEA_CUDA_CODE
template <class F>
__global__ void for_each_team_kernel(Count teams, F f) {
  const std::int64_t n = teams.value();
  Team team;
  team.size = static_cast<int>(blockDim.x);
  team.scratch_memory = dynamic_shared<unsigned char>();
  team.parallel_lanes = true;
  for (std::int64_t index = blockIdx.x; index < n; index += gridDim.x) {
    team.index = index;
    for (int phase = 0; phase < F::phases; ++phase) {
      f(team, phase, static_cast<int>(threadIdx.x));
      __syncthreads();
    }
  }
}
#endif

/// Teams [begin, end) by one host thread; scratch lies on its stack, so that nothing is allocated.
template <class F>
void host_teams(const F f, std::int64_t begin, std::int64_t end, int size, std::size_t scratch_bytes, bool backwards) {
  alignas(64) unsigned char scratch[max_team_scratch_bytes];
  Team team;
  team.size = size;
  team.scratch_memory = scratch;
  static_cast<void>(scratch_bytes);
  for (std::int64_t index = begin; index < end; ++index) {
    team.index = index;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    std::memset(scratch, 0xff, scratch_bytes);  // NaN: shows what is read before it is written
#endif
    for (int phase = 0; phase < F::phases; ++phase) {
      if (backwards) {
        for (int lane = size - 1; lane >= 0; --lane) f(team, phase, lane);
      } else {
        for (int lane = 0; lane < size; ++lane) f(team, phase, lane);
      }
    }
  }
}

}  // namespace kernel_detail

/// f(team, phase, lane) for all teams, phases [0, F::phases) and lanes [0, team_size), in stream order.
template <class F>
void for_each_team(Stream& stream, Count teams, int team_size, std::size_t scratch_bytes, F f) {
  static_assert(F::phases >= 1);
  check_team(team_size, scratch_bytes);
  if (teams.bound <= 0) return;
  if (stream.is_cuda()) {
#if DSEA_CUDA_CODE
    launch(stream, {kernel_detail::blocks_for(teams.bound, 1), static_cast<unsigned>(team_size), scratch_bytes},
           &kernel_detail::for_each_team_kernel<F>, teams, f);
    return;
#else
    refuse_launch(stream);
#endif
  }
  const Device& device = stream.device();
  stream.host_run([=, threads = device.threads(), backwards = device.delay_seed() != 0] {
    parallel_ranges(threads, teams.value(), grain_of<F>(16), [&](std::int64_t begin, std::int64_t end) {
      kernel_detail::host_teams<F>(f, begin, end, team_size, scratch_bytes, backwards);
    });
  });
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea
