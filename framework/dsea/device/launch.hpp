// The one place where kernels are launched, and where a kernel finds its shared memory.
//
// Code that nvcc compiles runs on both back ends. Code that the host compiler compiles cannot launch kernels; there the
// same calls throw on a CUDA stream. The two differ in what the templates of for_each and its kin expand to, so these
// live in an inline namespace that differs too: objects of both kinds can be linked into one program.
#pragma once

#include <cstddef>
#include <string>

#if defined(DSEA_CUDA_SHIM)
#include "cuda_shim/cuda_shim.hpp"
#elif defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/device/stream.hpp"

#if defined(__CUDACC__) || defined(DSEA_CUDA_SHIM)
#define DSEA_CUDA_CODE 1
#define DSEA_KERNEL_NAMESPACE kernels_for_cuda
#else
#define DSEA_CUDA_CODE 0
#define DSEA_KERNEL_NAMESPACE kernels_for_host
#endif

namespace dsea {

/// Most bytes of scratch or shared memory of a team; what every GPU offers without asking.
inline constexpr std::size_t max_team_scratch_bytes = std::size_t{48} * 1024;

/// Largest team.
inline constexpr int max_team_size = 1024;

/// Throws RunError unless 1 <= team_size <= max_team_size and scratch_bytes <= max_team_scratch_bytes.
void check_team(int team_size, std::size_t scratch_bytes);

inline namespace DSEA_KERNEL_NAMESPACE {

#if DSEA_CUDA_CODE

/// Grid, block and dynamic shared memory of a launch.
struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};

/// Launches kernel(args...) in the stream. Throws RunError if it cannot be started.
template <class... Parameters, class... Args>
void launch(Stream& stream, const LaunchShape& shape, void (*kernel)(Parameters...), const Args&... args) {
  stream.device().make_current();
  const auto native = static_cast<cudaStream_t>(stream.native());
#if defined(DSEA_CUDA_SHIM)
  shim::launch(shape.grid, shape.block, shape.shared_bytes, native, kernel, args...);
#else
  kernel<<<shape.grid, shape.block, shape.shared_bytes, native>>>(args...);
#endif
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    throw RunError(cat("cannot launch a kernel in stream '", stream.name(), "' (grid ", shape.grid.x, " x ",
                       shape.grid.y, ", block ", shape.block.x, " x ", shape.block.y, ", ", shape.shared_bytes,
                       " bytes of shared memory): ", cudaGetErrorString(status)));
  }
}

/// In a kernel: the dynamic shared memory of the block, at least 16-byte aligned.
template <class T>
__device__ inline T* dynamic_shared() {
#if defined(DSEA_CUDA_SHIM)
  return static_cast<T*>(shim::dynamic_shared());
#else
  extern __shared__ __align__(16) unsigned char dsea_dynamic_shared[];
  return reinterpret_cast<T*>(dsea_dynamic_shared);
#endif
}

#else

/// Called where a kernel would have to be launched by code that nvcc has not compiled.
[[noreturn]] inline void refuse_launch(const Stream& stream) {
  throw RunError(cat("a kernel for the CUDA stream '", stream.name(),
                     "' was compiled without CUDA: build this worker with the cuda preset (dsea_add_app)"));
}

#endif

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea
