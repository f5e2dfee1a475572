// Exclusive prefix sum: from counts to places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dsea/base/macros.hpp"
#include "dsea/device/launch.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {

inline constexpr int scan_lanes = 256;
inline constexpr int scan_per_lane = 8;
inline constexpr std::int64_t scan_tile = scan_lanes * scan_per_lane;

/// Bytes of device memory that exclusive_scan() needs for n numbers of type T; 8-byte aligned.
template <class T = std::int32_t>
std::size_t exclusive_scan_scratch_bytes(std::int64_t n) {
  const auto tiles = static_cast<std::size_t>(n > 0 ? (n - 1) / scan_tile + 1 : 0);
  return (tiles * sizeof(T) + 7) / 8 * 8;
}

inline namespace DSEA_KERNEL_NAMESPACE {

namespace kernel_detail {

#if DSEA_CUDA_CODE

/// Exclusive prefix sum over the block's lanes (Hillis and Steele 1986); `total` is the sum of all. shared: 2 x
/// scan_lanes numbers.
template <class T>
__device__ T block_exclusive_scan(T mine, T* shared, T& total) {
  const int lane = static_cast<int>(threadIdx.x);
  T* from = shared;
  T* to = shared + scan_lanes;
  from[lane] = mine;
  __syncthreads();
  for (int offset = 1; offset < scan_lanes; offset *= 2) {
    to[lane] = lane >= offset ? from[lane] + from[lane - offset] : from[lane];
    __syncthreads();
    T* const swap = from;
    from = to;
    to = swap;
  }
  total = from[scan_lanes - 1];
  const T result = from[lane] - mine;
  __syncthreads();  // before the next call writes shared again
  return result;
}

template <class T>
__global__ void scan_sums_kernel(const T* in, std::int64_t n, T* tile_sums) {
  T mine = 0;
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * scan_tile;
  for (int k = 0; k < scan_per_lane; ++k) {
    const std::int64_t i = tile + k * scan_lanes + threadIdx.x;
    if (i < n) mine += in[i];
  }
  T total;
  block_exclusive_scan(mine, dynamic_shared<T>(), total);
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = total;
}

/// One block turns the sums of the tiles into where each tile starts, and writes the grand total.
template <class T>
__global__ void scan_starts_kernel(T* tile_sums, std::int64_t tiles, T* grand_total) {
  T carry = 0;
  for (std::int64_t first = 0; first < tiles; first += scan_lanes) {
    const std::int64_t i = first + threadIdx.x;
    const T mine = i < tiles ? tile_sums[i] : T{0};
    T total;
    const T before = block_exclusive_scan(mine, dynamic_shared<T>(), total);
    if (i < tiles) tile_sums[i] = carry + before;
    carry += total;
  }
  if (threadIdx.x == 0) *grand_total = carry;
}

template <class T>
__global__ void scan_tiles_kernel(const T* in, T* out, std::int64_t n, const T* tile_starts) {
  T carry = tile_starts[blockIdx.x];
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * scan_tile;
  for (int k = 0; k < scan_per_lane; ++k) {
    const std::int64_t i = tile + k * scan_lanes + threadIdx.x;
    const T mine = i < n ? in[i] : T{0};
    T total;
    const T before = block_exclusive_scan(mine, dynamic_shared<T>(), total);
    if (i < n) out[i] = carry + before;
    carry += total;
  }
}

#endif

}  // namespace kernel_detail

/// out[i] = in[0] + ... + in[i-1] for i in [0, n]: n + 1 outputs, the last is the total, which must fit into T (32- or
/// 64-bit integers). In stream order. `in` and `out` may be the same. Device memory; scratch has
/// exclusive_scan_scratch_bytes<T>(n) bytes and is not shared with other work in flight.
template <class T>
void exclusive_scan(Stream& stream, const T* in, T* out, std::int64_t n, void* scratch) {
  static_assert(std::is_integral_v<T>);
  if (n <= 0) {
    fill_zero(stream, out, sizeof(T));
    return;
  }
  if (stream.is_cuda()) {
#if DSEA_CUDA_CODE
    T* tiles = static_cast<T*>(scratch);
    const std::int64_t count = (n - 1) / scan_tile + 1;
    constexpr std::size_t shared_bytes = 2 * scan_lanes * sizeof(T);
    const LaunchShape all{static_cast<unsigned>(count), scan_lanes, shared_bytes};
    launch(stream, all, &kernel_detail::scan_sums_kernel<T>, in, n, tiles);
    launch(stream, {1, scan_lanes, shared_bytes}, &kernel_detail::scan_starts_kernel<T>, tiles, count, out + n);
    launch(stream, all, &kernel_detail::scan_tiles_kernel<T>, in, out, n, static_cast<const T*>(tiles));
    return;
#else
    static_cast<void>(scratch);
    refuse_launch(stream);
#endif
  }
  stream.host_run([in, out, n] {
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T here = in[i];
      out[i] = sum;
      sum += here;
    }
    out[n] = sum;
  });
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea
