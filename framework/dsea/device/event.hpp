// Events: marks in streams that other streams and threads wait for.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "dsea/device/device.hpp"

namespace dsea {

class Signal;
class Stream;
struct EventState;

/// Marks a place in a stream. record() puts the mark at the end of the stream's work so far; the event is done when all
/// work before the mark is. May be recorded any number of times, also in different streams of its device; it then
/// stands for the last record. Move-only. One thread records, any thread may ask.
class Event {
 public:
  /// Is always done, cannot be recorded.
  Event() = default;

  /// With `timing` the time of the last record is kept.
  explicit Event(const Device& device, bool timing = false);

  Event(Event&&) noexcept = default;
  Event& operator=(Event&&) noexcept = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() = default;

  void record(Stream& stream);

  /// Never blocks; true before the first record. On CUDA throws RunError if work before the mark has failed.
  bool done() const;

  /// The host waits until what was last recorded is done, at most this long; false if it is not done then. Event driven
  /// on the host back end; on CUDA it asks again and again with growing pauses.
  bool wait_for(std::chrono::nanoseconds limit) const;

  /// From now on notifies this signal whenever a record is done. Set once, before the first record; the signal must
  /// outlive the event and all streams it was recorded in. On CUDA nobody is notified: ask done().
  void on_done(Signal* signal);

  /// Seconds that passed on the device between the marks; both events have timing and are done.
  static double seconds_between(const Event& begin, const Event& end);

 private:
  friend class Stream;
  std::shared_ptr<EventState> state_;
};

}  // namespace dsea
