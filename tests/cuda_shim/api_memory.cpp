// The CUDA runtime's functions about memory.
#include <cstring>

#include "cuda_shim/runtime.hpp"

using shim::Call;
using shim::Kind;

namespace {

std::size_t free_bytes(const Call& call, int device) {
  const std::size_t all = call.runtime.devices[static_cast<std::size_t>(device)].bytes;
  const std::size_t used = call.runtime.memory.in_use(device);
  return used < all ? all - used : 0;
}

cudaError_t allocate(void** memory, std::size_t bytes, Kind kind) {
  Call call;
  const int device = Call::current_device();
  if (const cudaError_t error = call.earlier_error(device)) return Call::result(error);
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > free_bytes(call, device)) return Call::result(cudaErrorMemoryAllocation);
  *memory = call.runtime.memory.allocate(kind, device, bytes);
  return Call::result(*memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

/// As CUDA does, waits for all work of the device first.
cudaError_t release(void* memory, Kind kind) {
  Call call;
  if (shim::in_host_function()) return Call::result(cudaErrorNotPermitted);
  if (memory == nullptr) return Call::result(call.earlier_error(Call::current_device()));
  bool inside = false;
  const auto allocation = call.runtime.memory.find(memory, 0, inside);
  if (!allocation) return Call::result(cudaErrorInvalidValue);
  call.runtime.finish_device(call.lock, allocation->device);
  const std::string wrong = call.runtime.memory.check();
  if (!wrong.empty()) call.runtime.fault(allocation->device, cudaErrorIllegalAddress, "found by a free: " + wrong);
  if (!call.runtime.memory.release(kind, memory)) return Call::result(cudaErrorInvalidValue);
  return Call::result(call.earlier_error(allocation->device));
}

/// Whether the bytes lie in one allocation or, if that is allowed, in memory that CUDA does not know.
bool in_range(const Call& call, const void* memory, std::size_t bytes, bool foreign_too) {
  bool inside = false;
  const auto allocation = call.runtime.memory.find(memory, bytes, inside);
  return allocation ? inside : foreign_too && memory != nullptr;
}

cudaError_t queue(Call& call, cudaStream_t handle, std::function<std::string()> work) {
  const auto stream = call.runtime.find_stream(handle);
  if (!stream) return Call::result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = call.earlier_error(stream->device)) return Call::result(error);
  call.runtime.push(*stream, {std::move(work), {}, {}});
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocate(memory, bytes, Kind::device); }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) { return allocate(memory, bytes, Kind::pinned); }
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return allocate(memory, bytes, Kind::pinned); }
cudaError_t cudaFree(void* memory) { return release(memory, Kind::device); }
cudaError_t cudaFreeHost(void* memory) { return release(memory, Kind::pinned); }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const Call call;
  const int device = Call::current_device();
  if (const cudaError_t error = call.earlier_error(device)) return Call::result(error);
  *free = free_bytes(call, device);
  *total = call.runtime.devices[static_cast<std::size_t>(device)].bytes;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const Call call;
  bool inside = false;
  const auto allocation = call.runtime.memory.find(memory, 1, inside);
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = -2;
  if (!allocation) return cudaSuccess;
  const bool on_device = allocation->kind == Kind::device;
  attributes->type = on_device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  attributes->device = allocation->device;
  attributes->devicePointer = const_cast<void*>(memory);
  attributes->hostPointer = on_device ? nullptr : const_cast<void*>(memory);
  return cudaSuccess;
}

/// Pageable memory is copied late too: it must stay until then, even where CUDA would be done with it before.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  Call call;
  if (bytes == 0) return cudaSuccess;
  if (!in_range(call, to, bytes, true) || !in_range(call, from, bytes, true)) {
    return Call::result(cudaErrorInvalidValue);
  }
  return queue(call, stream, [=] {
    std::memmove(to, from, bytes);
    return std::string();
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  Call call;
  if (bytes == 0) return cudaSuccess;
  if (!in_range(call, to, bytes, false)) return Call::result(cudaErrorInvalidValue);
  return queue(call, stream, [=] {
    std::memset(to, value, bytes);
    return std::string();
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  const cudaError_t error = cudaMemsetAsync(to, value, bytes, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}
