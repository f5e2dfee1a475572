// The CUDA runtime's functions about devices and errors.
#include <cstdio>
#include <string>

#include "cuda_shim/runtime.hpp"

using shim::Call;

namespace {

bool exists(const Call& call, int device) {
  return device >= 0 && static_cast<std::size_t>(device) < call.runtime.devices.size();
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  const Call call;
  if (call.runtime.devices.empty()) return Call::result(cudaErrorNoDevice);  // leaves *count unwritten, as CUDA does
  *count = static_cast<int>(call.runtime.devices.size());
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  const Call call;
  if (shim::in_host_function()) return Call::result(cudaErrorNotPermitted);
  if (!exists(call, device)) return Call::result(cudaErrorInvalidDevice);
  Call::current_device() = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = Call::current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const Call call;
  if (!exists(call, device)) return Call::result(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "CUDA shim on the CPU");
  properties->totalGlobalMem = call.runtime.devices[static_cast<std::size_t>(device)].bytes;
  properties->sharedMemPerBlock = std::size_t{48} * 1024;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->multiProcessorCount = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  const Call call;
  if (text == nullptr || bytes < 13 || !exists(call, device)) return Call::result(cudaErrorInvalidValue);
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:%02x:00.0", static_cast<unsigned>(device + 1) & 0xffU);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  Call call;
  const int device = Call::current_device();
  if (const cudaError_t error = call.earlier_error(device)) return Call::result(error);
  call.runtime.finish_device(call.lock, device);
  return Call::result(call.earlier_error(device));
}

cudaError_t cudaGetLastError() {
  const Call call;
  const cudaError_t error = std::exchange(Call::last_error(), cudaSuccess);
  const cudaError_t sticky = call.earlier_error(Call::current_device());
  return sticky != cudaSuccess ? sticky : error;
}

cudaError_t cudaPeekAtLastError() {
  const Call call;
  const cudaError_t sticky = call.earlier_error(Call::current_device());
  return sticky != cudaSuccess ? sticky : Call::last_error();
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorNotPermitted:
      return "cudaErrorNotPermitted";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    default:
      return "an error that the CUDA shim does not know";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorNotPermitted:
      return "CUDA was used from a host function";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure: {
      const Call call;
      if (call.runtime.faults.empty()) return "a kernel has failed";
      call.runtime.faults_seen = call.runtime.faults.size();
      return call.runtime.faults.back().c_str();
    }
    default:
      return "unknown error";
  }
}
