// What an event is behind the scenes. Private to the device layer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dsea {

class Signal;

/// Shared by the Event and by the marks of it that are still queued. On the host back end records are counted; the
/// event is done when as many are complete as were recorded.
struct EventState {
  EventState(bool on_cuda, bool with_timing);
  ~EventState();
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;

  /// Host: the mark of this record has been reached. If an earlier record in another stream is still under way, this
  /// waits for it, so that records complete in their order.
  void complete(std::uint64_t record);

  /// Host: waits until this record is complete.
  void wait(std::uint64_t record);

  const bool cuda;
  const bool timing;
  void* native = nullptr;  ///< cudaEvent_t
  Signal* signal = nullptr;
  std::atomic<std::uint64_t> recorded = 0;
  std::atomic<std::uint64_t> completed = 0;  ///< written under the mutex
  std::chrono::steady_clock::time_point time{};
  std::mutex mutex;
  std::condition_variable changed;
};

}  // namespace dsea
