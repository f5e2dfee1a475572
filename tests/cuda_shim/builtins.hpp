// What CUDA C++ has built in for code that runs on a GPU. Only for kernels: elsewhere the functions end the process.
//
// The collectives check who takes part. Whatever is wrong ends the launch with an error that names kernel, block and
// thread: a barrier that not all threads of the block reach at the same place of the source; a mask that lacks the
// caller or names a lane that has exited or never was; lanes that wait for each other for ever.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = 32;

namespace shim {

enum class Collective { sync, ballot, shuffle, shuffle_up, shuffle_down, shuffle_xor };

/// One lane's part in a warp collective.
struct WarpCall {
  Collective kind = Collective::sync;
  unsigned mask = 0;
  std::uint64_t value = 0;  ///< what the lane brings
  unsigned operand = 0;     ///< shuffles: lane or distance
  unsigned width = 32;      ///< shuffles
  std::source_location where;
};

/// Waits for all threads of the block; the number of them whose predicate holds.
int barrier(bool predicate, const std::source_location& where);

/// Waits for all lanes of the mask, which bring the same kind of call; what this lane gets.
std::uint64_t warp_collective(const WarpCall& call);

template <class T>
concept Shuffled = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t);

template <Shuffled T>
T shuffle(Collective kind, unsigned mask, const T& value, unsigned operand, int width,
          const std::source_location& where) {
  WarpCall call{kind, mask, 0, operand, static_cast<unsigned>(width), where};
  std::memcpy(&call.value, &value, sizeof(T));
  const std::uint64_t bits = warp_collective(call);
  T result;
  std::memcpy(&result, &bits, sizeof(T));
  return result;
}

}  // namespace shim

using shim_place = std::source_location;  // where a collective is called

// ---- barriers ----
inline void __syncthreads(shim_place where = shim_place::current()) { shim::barrier(false, where); }
inline int __syncthreads_count(int predicate, shim_place where = shim_place::current()) {
  return shim::barrier(predicate != 0, where);
}
inline int __syncthreads_or(int predicate, shim_place where = shim_place::current()) {
  return shim::barrier(predicate != 0, where) != 0;
}
inline int __syncthreads_and(int predicate, shim_place where = shim_place::current()) {
  return shim::barrier(predicate == 0, where) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffU, shim_place where = shim_place::current()) {
  shim::warp_collective({shim::Collective::sync, mask, 0, 0, 32, where});
}

// ---- votes ----
inline unsigned __ballot_sync(unsigned mask, int predicate, shim_place where = shim_place::current()) {
  return static_cast<unsigned>(
      shim::warp_collective({shim::Collective::ballot, mask, predicate != 0 ? 1U : 0U, 0, 32, where}));
}
inline int __any_sync(unsigned mask, int predicate, shim_place where = shim_place::current()) {
  return __ballot_sync(mask, predicate, where) != 0;
}
inline int __all_sync(unsigned mask, int predicate, shim_place where = shim_place::current()) {
  return __ballot_sync(mask, predicate, where) == mask;
}

// ---- shuffles; what comes from a lane outside the mask is all ones ----
template <shim::Shuffled T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, shim_place where = shim_place::current()) {
  return shim::shuffle(shim::Collective::shuffle, mask, value, static_cast<unsigned>(lane), width, where);
}
template <shim::Shuffled T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, shim_place where = shim_place::current()) {
  return shim::shuffle(shim::Collective::shuffle_up, mask, value, delta, width, where);
}
template <shim::Shuffled T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, shim_place where = shim_place::current()) {
  return shim::shuffle(shim::Collective::shuffle_down, mask, value, delta, width, where);
}
template <shim::Shuffled T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, shim_place where = shim_place::current()) {
  return shim::shuffle(shim::Collective::shuffle_xor, mask, value, static_cast<unsigned>(lanes), width, where);
}

// ---- the rest ----
template <class T>
T __ldg(const T* address) {
  return *address;
}
inline void __threadfence_block() {}  // one thread runs at a time
inline void __threadfence() {}
inline void __threadfence_system() {}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
