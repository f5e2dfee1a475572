#include "dsea/device/cuda_api.hpp"

#if defined(DSEA_HAVE_CUDA)

#include <cuda_runtime_api.h>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::cuda {

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // else the next launch would report it again
  throw RunError(cat("CUDA cannot ", what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")"));
}

cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }

}  // namespace

int device_count(std::string& reason) {
  int count = 0;  // left unwritten on errors
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();
    reason = cudaGetErrorString(status);
    return 0;
  }
  if (count == 0) reason = "the driver reports none";
  return count;
}

std::string device_name(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "read a GPU's properties");
  return cat(properties.name, ", compute capability ", properties.major, ".", properties.minor);
}

std::string pci_address(int index) {
  char text[64] = {};
  check(cudaDeviceGetPCIBusId(text, sizeof text, index), "read a GPU's PCI address");
  return text;
}

void set_device(int index) { check(cudaSetDevice(index), "select a GPU"); }

void prepare(int index) {
  set_device(index);
  // Refused where somebody else has already set the flags; then waiting costs more, but works.
  if (cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) != cudaSuccess) cudaGetLastError();
  check(cudaFree(nullptr), "start up on a GPU");
}

std::int64_t free_memory() {
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "read a GPU's free memory");
  return static_cast<std::int64_t>(free_bytes);
}

void* allocate(std::size_t bytes, bool pinned) {
  void* memory = nullptr;
  const cudaError_t status = pinned ? cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) : cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status, pinned ? "allocate pinned memory" : "allocate memory");
  return memory;
}

void release(void* memory, bool pinned) noexcept {
  // Errors are those of earlier work, or the runtime is shutting down: nothing is left to do about them here.
  if ((pinned ? cudaFreeHost(memory) : cudaFree(memory)) != cudaSuccess) cudaGetLastError();
}

void zero_now(void* memory, std::size_t bytes) {
  void* stream = make_stream();
  try {
    zero(stream, memory, bytes);
    synchronize(stream);
  } catch (...) {
    destroy_stream(stream);
    throw;
  }
  destroy_stream(stream);
}

void* make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  return stream;
}

void destroy_stream(void* stream) noexcept {
  if (cudaStreamDestroy(as_stream(stream)) != cudaSuccess) cudaGetLastError();
}

void synchronize(void* stream) { check(cudaStreamSynchronize(as_stream(stream)), "finish the work of a stream"); }

void check_stream(void* stream) {
  const cudaError_t status = cudaStreamQuery(as_stream(stream));
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return;
  }
  check(status, "finish the work of a stream");
}

void copy(void* stream, void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, as_stream(stream)), "copy memory");
}

void zero(void* stream, void* to, std::size_t bytes) {
  check(cudaMemsetAsync(to, 0, bytes, as_stream(stream)), "set memory to zero");
}

void call_host(void* stream, void (*function)(void*), void* argument) {
  check(cudaLaunchHostFunc(as_stream(stream), function, argument), "queue a host function");
}

void* make_event(bool timing) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming), "make an event");
  return event;
}

void destroy_event(void* event) noexcept {
  if (cudaEventDestroy(as_event(event)) != cudaSuccess) cudaGetLastError();
}

void record(void* event, void* stream) {
  check(cudaEventRecord(as_event(event), as_stream(stream)), "record an event");
}

bool is_done(void* event) {
  const cudaError_t status = cudaEventQuery(as_event(event));
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(status, "finish the work before an event");
  return true;
}

void wait(void* stream, void* event) {
  check(cudaStreamWaitEvent(as_stream(stream), as_event(event), 0), "make a stream wait for an event");
}

double seconds_between(void* begin, void* end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, as_event(begin), as_event(end)), "read the time between two events");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace dsea::cuda

#endif
