// Sum, minimum or maximum of f(i) in a fixed order.
//
// Order: the elements are cut into blocks of 1024. In a block, partial result t (of 256) takes elements t, t + 256,
// t + 512, t + 768 one after the other; the 256 are folded as by Team::fold. The results of the blocks are combined by
// the same rule: partial t takes blocks t, t + 256, ..., and the 256 are folded. Places without an element count as the
// operation's identity. Hence the result depends on the elements and their number only, not on threads, bound, back
// end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dsea/base/macros.hpp"
#include "dsea/device/count.hpp"
#include "dsea/device/for_each_team.hpp"
#include "dsea/device/host_loop.hpp"
#include "dsea/device/launch.hpp"
#include "dsea/device/reduce_op.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {

inline constexpr int reduce_lanes = 256;
inline constexpr std::int64_t reduce_block = 1024;  // elements

/// Bytes of device memory that reduce() needs for up to `bound` elements; 8-byte aligned.
inline std::size_t reduce_scratch_bytes(std::int64_t bound) {
  return bound > 0 ? static_cast<std::size_t>((bound - 1) / reduce_block + 1) * sizeof(double) : 0;
}

inline namespace DSEA_KERNEL_NAMESPACE {

namespace kernel_detail {

inline std::int64_t reduce_blocks(std::int64_t n) { return (n + reduce_block - 1) / reduce_block; }

/// Combines element(first), element(first + 1) ... element(last - 1) on the host.
template <class Op, class Element>
double host_fold(std::int64_t first, std::int64_t last, const Element element) {
  const Op op;
  double partial[reduce_lanes];
  for (double& p : partial) p = Op::identity;
  for (; first + reduce_lanes <= last; first += reduce_lanes) {
    DSEA_IVDEP
    for (int t = 0; t < reduce_lanes; ++t) partial[t] = op(partial[t], element(first + t));
  }
  for (int t = 0; first < last; ++first, ++t) partial[t] = op(partial[t], element(first));
  Team team;
  team.size = reduce_lanes;
  team.fold(partial, reduce_lanes, 0, op);
  return partial[0];
}

#if DSEA_CUDA_CODE
template <class Op, class Element>
__device__ void device_fold(std::int64_t first, std::int64_t last, const Element& element, double* result) {
  const Op op;
  auto* partial = dynamic_shared<double>();
  const int lane = static_cast<int>(threadIdx.x);
  double mine = Op::identity;
  for (std::int64_t i = first + lane; i < last; i += reduce_lanes) mine = op(mine, element(i));
  partial[lane] = mine;
  __syncthreads();
  Team team;
  team.size = reduce_lanes;
  team.parallel_lanes = true;
  team.fold(partial, reduce_lanes, lane, op);
  if (lane == 0) *result = partial[0];
  __syncthreads();
}

template <class Op, class F>
__global__ void reduce_blocks_kernel(Count count, F f, double* block_results) {
  const std::int64_t n = count.value();
  const std::int64_t blocks = (n + reduce_block - 1) / reduce_block;
  for (std::int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const std::int64_t last = (block + 1) * reduce_block;
    device_fold<Op>(block * reduce_block, last < n ? last : n, f, block_results + block);
  }
}

struct ReadNumber {
  const double* numbers;
  DSEA_FN double operator()(std::int64_t i) const { return numbers[i]; }
};

template <class Op>
__global__ void reduce_rest_kernel(Count count, const double* block_results, double* result) {
  const std::int64_t blocks = (count.value() + reduce_block - 1) / reduce_block;
  device_fold<Op>(0, blocks, ReadNumber{block_results}, result);
}
#endif

template <class Op, class F>
void reduce_by(Stream& stream, Count n, const F& f, double* result, double* block_results) {
  if (stream.is_cuda()) {
#if DSEA_CUDA_CODE
    constexpr std::size_t shared_bytes = reduce_lanes * sizeof(double);
    if (n.bound > 0) {
      launch(stream, {blocks_for(reduce_blocks(n.bound), 1), reduce_lanes, shared_bytes}, &reduce_blocks_kernel<Op, F>,
             n, f, block_results);
    }
    launch(stream, {1, reduce_lanes, shared_bytes}, &reduce_rest_kernel<Op>, n,
           static_cast<const double*>(block_results), result);
    return;
#else
    refuse_launch(stream);
#endif
  }
  stream.host_run([n, f, result, block_results, threads = stream.device().threads()] {
    const std::int64_t elements = n.value();
    parallel_ranges(threads, reduce_blocks(elements), grain_of<F>(8), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t last = (block + 1) * reduce_block;
        block_results[block] = host_fold<Op>(block * reduce_block, last < elements ? last : elements, f);
      }
    });
    *result = host_fold<Op>(0, reduce_blocks(elements), [block_results](std::int64_t b) { return block_results[b]; });
  });
}

}  // namespace kernel_detail

/// *result = op over f(i) for i in [0, n), in stream order; f(i) gives a double. Without elements: 0, +infinity (min),
/// -infinity (max). A NaN stays in all three. `result` and `scratch` (reduce_scratch_bytes(n.bound), not shared with
/// other work in flight) are device memory. f may state `grain`, in blocks.
template <class F>
void reduce(Stream& stream, Count n, F f, double* result, ReduceOp op, void* scratch) {
  auto* block_results = static_cast<double*>(scratch);
  switch (op) {
    case ReduceOp::sum:
      return kernel_detail::reduce_by<Sum>(stream, n, f, result, block_results);
    case ReduceOp::min:
      return kernel_detail::reduce_by<Minimum>(stream, n, f, result, block_results);
    case ReduceOp::max:
      return kernel_detail::reduce_by<Maximum>(stream, n, f, result, block_results);
  }
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea
