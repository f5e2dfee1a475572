// The CUDA runtime's functions about streams, and launches.
#include <utility>

#include "cuda_shim/runtime.hpp"

using shim::Call;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned) {
  const Call call;
  const int device = Call::current_device();
  if (const cudaError_t error = call.earlier_error(device)) return Call::result(error);
  auto stream = std::make_shared<shim::Stream>();
  stream->device = device;
  *handle = reinterpret_cast<cudaStream_t>(stream.get());
  call.runtime.streams[*handle] = std::move(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* handle) { return cudaStreamCreateWithFlags(handle, cudaStreamDefault); }

/// Waits for its work; CUDA would let it go on.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  Call call;
  const auto stream = handle == nullptr ? nullptr : call.runtime.find_stream(handle);
  if (!stream) return Call::result(cudaErrorInvalidResourceHandle);
  call.runtime.finish(call.lock, *stream, stream->queued);
  stream->host_thread.reset();
  call.runtime.streams.erase(handle);
  return Call::result(call.earlier_error(stream->device));
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  Call call;
  const auto stream = call.runtime.find_stream(handle);
  if (!stream) return Call::result(cudaErrorInvalidResourceHandle);
  if (shim::in_host_function()) return Call::result(cudaErrorNotPermitted);
  call.runtime.finish(call.lock, *stream, stream->queued);
  return Call::result(call.earlier_error(stream->device));
}

/// Runs what can be run.
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const Call call;
  const auto stream = call.runtime.find_stream(handle);
  if (!stream) return Call::result(cudaErrorInvalidResourceHandle);
  const bool done = call.runtime.advance(*stream, stream->queued);
  if (const cudaError_t error = call.earlier_error(stream->device)) return Call::result(error);
  return Call::result(done ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  const Call call;
  const auto stream = call.runtime.find_stream(handle);
  const auto event = call.runtime.find_event(event_handle);
  if (!stream || !event) return Call::result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = call.earlier_error(stream->device)) return Call::result(error);
  if (event->mark && !event->mark->reached()) call.runtime.push(*stream, {{}, event->mark, {}});
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* argument) {
  const Call call;
  const auto stream = call.runtime.find_stream(handle);
  if (!stream) return Call::result(cudaErrorInvalidResourceHandle);
  if (function == nullptr) return Call::result(cudaErrorInvalidValue);
  if (const cudaError_t error = call.earlier_error(stream->device)) return Call::result(error);
  call.runtime.push(*stream, {{}, {}, [function, argument] { function(argument); }});
  return cudaSuccess;
}

namespace shim {

namespace {

cudaError_t check_shape(const Launch& launch) {
  const dim3& grid = launch.grid;
  const dim3& block = launch.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0 ||
      grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535 || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      block.x * block.y * block.z > 1024) {
    return cudaErrorInvalidConfiguration;
  }
  return launch.shared_bytes > std::size_t{48} * 1024 ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

void enqueue(Launch launch, cudaStream_t handle) {
  const Call call;
  const auto stream = call.runtime.find_stream(handle);
  // CUDA refuses a stream of a device that is not the current one.
  if (!stream || stream->device != Call::current_device()) {
    Call::result(cudaErrorInvalidResourceHandle);
    return;
  }
  cudaError_t error = call.earlier_error(stream->device);
  if (error == cudaSuccess) error = check_shape(launch);
  if (Call::result(error) != cudaSuccess) return;
  ++call.runtime.launches[launch.kernel];
  call.runtime.push(*stream,
                    {[launch = std::move(launch), &runtime = call.runtime] { return runtime.run(launch); }, {}, {}});
}

}  // namespace shim
