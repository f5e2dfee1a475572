// The CUDA runtime's functions about events.
#include <utility>

#include "cuda_shim/runtime.hpp"

using shim::Call;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  const Call call;
  const int device = Call::current_device();
  if (const cudaError_t error = call.earlier_error(device)) return Call::result(error);
  auto event = std::make_shared<shim::Event>();
  event->device = device;
  event->timing = (flags & cudaEventDisableTiming) == 0;
  *handle = reinterpret_cast<cudaEvent_t>(event.get());
  call.runtime.events[*handle] = std::move(event);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* handle) { return cudaEventCreateWithFlags(handle, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  const Call call;
  return Call::result(call.runtime.events.erase(handle) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  const Call call;
  const auto stream = call.runtime.find_stream(stream_handle);
  const auto event = call.runtime.find_event(handle);
  if (!stream || !event || stream->device != event->device) return Call::result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = call.earlier_error(stream->device)) return Call::result(error);
  if (event->timing) {
    call.runtime.push(*stream, {[event] {
                                  event->time = std::chrono::steady_clock::now();
                                  return std::string();
                                },
                                {},
                                {}});
  }
  event->mark = shim::Mark{stream, stream->queued};
  event->patience = call.runtime.order.patience();
  return cudaSuccess;
}

/// Who asks again and again sees the work done: after a few questions it is run.
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const Call call;
  const auto event = call.runtime.find_event(handle);
  if (!event) return Call::result(cudaErrorInvalidResourceHandle);
  if (event->mark && !event->mark->reached()) {
    const bool run = event->patience-- <= 0;
    const bool done = run && call.runtime.advance(*event->mark->stream, event->mark->place);
    if (const cudaError_t error = call.earlier_error(event->device)) return Call::result(error);
    if (!done) return Call::result(cudaErrorNotReady);
  }
  return Call::result(call.earlier_error(event->device));
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  Call call;
  const auto event = call.runtime.find_event(handle);
  if (!event) return Call::result(cudaErrorInvalidResourceHandle);
  if (shim::in_host_function()) return Call::result(cudaErrorNotPermitted);
  if (const auto mark = event->mark) call.runtime.finish(call.lock, *mark->stream, mark->place);
  return Call::result(call.earlier_error(event->device));
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin_handle, cudaEvent_t end_handle) {
  const Call call;
  const auto begin = call.runtime.find_event(begin_handle);
  const auto end = call.runtime.find_event(end_handle);
  if (!begin || !end || !begin->timing || !end->timing || !begin->mark || !end->mark || begin->device != end->device) {
    return Call::result(cudaErrorInvalidResourceHandle);
  }
  if (const cudaError_t error = call.earlier_error(begin->device)) return Call::result(error);
  if (!begin->mark->reached() || !end->mark->reached()) return Call::result(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return cudaSuccess;
}
