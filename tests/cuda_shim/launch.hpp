// How a kernel gets into a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shim {

/// A launch as it waits in its stream.
struct Launch {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  const void* kernel = nullptr;  ///< names it, see kernel_name()
  std::function<void()> body;    ///< runs one thread of it
};

/// Queues it. Failures are found by cudaGetLastError(), as after <<< >>>. Thread safe.
void enqueue(Launch launch, cudaStream_t stream);

/// What kernel<<<grid, block, shared_bytes, stream>>>(args...) is for nvcc; the arguments are copied now.
template <class... Parameters, class... Args>
void launch(const dim3& grid, const dim3& block, std::size_t shared_bytes, cudaStream_t stream,
            void (*kernel)(Parameters...), const Args&... args) {
  static_assert((std::is_trivially_copyable_v<std::decay_t<Parameters>> && ...),
                "kernel arguments are copied as bytes");
  static_assert((std::size_t{0} + ... + sizeof(Parameters)) <= 32764, "more arguments than a kernel can have");
  static_assert((!std::is_reference_v<Parameters> && ...), "a kernel cannot have references as arguments");
  Launch request{grid, block, shared_bytes, reinterpret_cast<const void*>(kernel), {}};
  request.body = [kernel, copies = std::tuple<std::decay_t<Parameters>...>(args...)] {
    std::apply([kernel](const auto&... copy) { kernel(copy...); }, copies);
  };
  enqueue(std::move(request), stream);
}

/// In a kernel: the block's dynamic shared memory, 64-byte aligned; null without any.
void* dynamic_shared();

}  // namespace shim
