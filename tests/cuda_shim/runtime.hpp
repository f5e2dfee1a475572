// The state of the runtime, one a process, and its lock.
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda_shim/block_runner.hpp"
#include "cuda_shim/memory.hpp"
#include "cuda_shim/order.hpp"
#include "cuda_shim/stream.hpp"

namespace shim {

struct DeviceState {
  std::size_t bytes = 0;
  cudaError_t error = cudaSuccess;  ///< stays until take_faults()
  std::shared_ptr<Stream> default_stream;
};

/// All members but get() are used under `mutex`, by way of a Call.
class Runtime {
 public:
  static Runtime& get();  ///< lives until the process has ended

  std::shared_ptr<Stream> find_stream(cudaStream_t handle);  ///< of the current device for 0; null: no such stream
  std::shared_ptr<Event> find_event(cudaEvent_t handle);     ///< null: no such event

  void push(Stream& stream, Operation operation);

  /// Runs the stream's work up to this place as far as that is possible without waiting for a host function.
  bool advance(Stream& stream, std::uint64_t place);

  /// Does not come back before the place is reached.
  void finish(std::unique_lock<std::mutex>& lock, Stream& stream, std::uint64_t place);
  void finish_device(std::unique_lock<std::mutex>& lock, int device);

  std::string run(const Launch& launch);
  void fault(int device, cudaError_t error, const std::string& text);

  std::mutex mutex;
  std::condition_variable host_function_done;
  std::vector<DeviceState> devices;
  std::unordered_map<cudaStream_t, std::shared_ptr<Stream>> streams;
  std::unordered_map<cudaEvent_t, std::shared_ptr<Event>> events;
  Memory memory;
  Order order;
  BlockRunner runner;
  std::unordered_map<const void*, std::int64_t> launches;  ///< by kernel
  std::deque<std::string> faults;                          ///< never shrinks: cudaGetErrorString points into it
  std::size_t faults_taken = 0;
  std::size_t faults_seen = 0;

 private:
  Runtime();
  void start_host_function(Stream& stream);
};

/// What every function of the runtime begins with: the lock, and the calling thread's error and device.
class Call {
 public:
  Call();

  /// Keeps an error for cudaGetLastError() and hands it on.
  static cudaError_t result(cudaError_t error);

  /// The error of earlier work of this device, or that CUDA may not be used here; else cudaSuccess.
  cudaError_t earlier_error(int device) const;

  static int& current_device();
  static cudaError_t& last_error();

  Runtime& runtime;
  std::unique_lock<std::mutex> lock;
};

}  // namespace shim
