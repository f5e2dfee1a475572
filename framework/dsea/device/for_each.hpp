// A kernel over one index.
//
//   struct Scale {
//     double factor;
//     double* x;
//     DSEA_FN void operator()(std::int64_t i) const { x[i] *= factor; }
//   };
//   for_each(stream, n, Scale{2.0, x});
//
// A kernel is a named struct that holds numbers and device pointers and is copied. No two indices may touch the same
// memory unless both only read it; there is no order among them. It must not throw. It may state
// `static constexpr std::int64_t grain`: the least number of indices worth a host thread (default 512; 1 where an index
// is much work).
#pragma once

#include <cstdint>

#include "dsea/base/macros.hpp"
#include "dsea/device/count.hpp"
#include "dsea/device/host_loop.hpp"
#include "dsea/device/launch.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {
inline namespace DSEA_KERNEL_NAMESPACE {

namespace kernel_detail {

inline constexpr int block_size = 256;
inline constexpr std::int64_t max_blocks = 1 << 20;  // beyond that each thread takes several indices

#if DSEA_CUDA_CODE
template <class F>
__global__ void for_each_kernel(Count count, F f) {
  const std::int64_t n = count.value();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

inline unsigned blocks_for(std::int64_t elements, int a_block) {
  const std::int64_t blocks = (elements + a_block - 1) / a_block;
  return static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
}
#endif

/// A copy of the functor whose address nobody knows, so that its members stay in registers.
template <class F>
void for_each_range(const F f, std::int64_t begin, std::int64_t end) {
  DSEA_IVDEP
  for (std::int64_t i = begin; i < end; ++i) f(i);
}

}  // namespace kernel_detail

/// f(i) for i in [0, n), in stream order.
template <class F>
void for_each(Stream& stream, Count n, F f) {
  if (n.bound <= 0) return;
  if (stream.is_cuda()) {
#if DSEA_CUDA_CODE
    launch(stream, {kernel_detail::blocks_for(n.bound, kernel_detail::block_size), kernel_detail::block_size},
           &kernel_detail::for_each_kernel<F>, n, f);
    return;
#else
    refuse_launch(stream);
#endif
  }
  stream.host_run([n, f, threads = stream.device().threads()] {
    parallel_ranges(threads, n.value(), grain_of<F>(512),
                    [&f](std::int64_t begin, std::int64_t end) { kernel_detail::for_each_range<F>(f, begin, end); });
  });
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea
