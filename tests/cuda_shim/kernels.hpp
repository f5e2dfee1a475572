// Kernels for the tests of the shim, right ones and wrong ones.
#pragma once

#include <cstdint>

#include "cuda_shim/cuda_shim.hpp"

namespace shim::test {

inline constexpr int lanes = 128;

/// Each block adds up 128 numbers. With `forget_barrier` it does not wait between the rounds.
template <bool forget_barrier>
__global__ void __launch_bounds__(lanes) block_sums(const double* x, double* sums) {
  __shared__ double part[lanes];
  const unsigned lane = threadIdx.x;
  part[lane] = x[blockIdx.x * blockDim.x + lane];
  __syncthreads();
  for (unsigned half = lanes / 2; half > 0; half /= 2) {
    if (lane < half) part[lane] += part[lane + half];
    if (!forget_barrier) __syncthreads();
  }
  if (lane == 0) sums[blockIdx.x] = part[0];
}

/// Adds up each warp's lanes, three ways: they must agree.
__global__ inline void warp_sums(const double* __restrict__ x, double* down, double* across, unsigned* votes) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const double mine = __ldg(x + thread);
  double sum = mine;
  for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffffU, sum, delta);
  if (threadIdx.x % warpSize == 0) down[thread / 32] = sum;
  sum = mine;
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, lane);
  across[thread] = sum;
  votes[thread] = __ballot_sync(0xffffffffU, mine > 3.0);
}

/// Turns each block's numbers round, in dynamic shared memory.
__global__ inline void reversed(const int* x, int* y) {
  auto* const numbers = static_cast<int*>(dynamic_shared());
  numbers[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = numbers[blockDim.x - 1 - threadIdx.x];
}

/// counts: 3 numbers.
__global__ inline void count_threads(unsigned* counts, unsigned long long* least, int* greatest) {
  const unsigned thread =
      (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  atomicAdd(counts, 1U);
  atomicInc(counts + 1, 6U);
  unsigned seen = counts[2];
  while (atomicCAS(counts + 2, seen, seen + thread) != seen) seen = counts[2];
  atomicMin(least, 100ULL + thread);
  atomicMax(greatest, static_cast<int>(thread));
}

__global__ inline void fill(double* x, double value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ inline void add(const double* x, double* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + 1.0;
}

/// Only some of the block's threads reach the barrier.
__global__ inline void early_exit() {
  if (threadIdx.x == 5) return;
  __syncthreads();
}

/// All reach a barrier, but not the same.
__global__ inline void two_barriers() {
  if (threadIdx.x < 7) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

/// Lane 9 has gone, but the mask names it.
__global__ inline void mask_of_the_dead(int* result) {
  if (threadIdx.x == 9) return;
  result[threadIdx.x] = __shfl_sync(0xffffffffU, 1, 0);
}

/// The mask names who asks, and lanes that wait for something else.
__global__ inline void crossed_masks(int* result) {
  const unsigned mask = threadIdx.x < 16 ? 0xffffffffU : 0xffff0001U;
  result[threadIdx.x] = __shfl_sync(mask, 1, 16);
}

__global__ inline void mask_without_me() {
  if (threadIdx.x == 3) __syncwarp(0x1U);
}

/// One number too far when `x` has as many numbers as there are threads.
__global__ inline void past_the_end(double* x) { x[threadIdx.x + 1] = 1.0; }

__global__ inline void past_shared() { static_cast<int*>(dynamic_shared())[threadIdx.x + 1] = 1; }

}  // namespace shim::test
