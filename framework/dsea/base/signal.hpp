// Waking threads up without losing a wake-up.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dsea {

/// Counts events and lets threads wait for the next one. All members may be called from any thread. To wait for a
/// state:
///
///   for (std::uint64_t seen = signal.now(); !state_is_reached(); seen = signal.now()) {
///     if (!signal.wait_past(seen, timeout)) return timed_out();
///   }
///
/// Whoever changes the state calls notify() afterwards. Because the counter is read before the state is looked at, a
/// change in between ends the wait at once.
class Signal {
 public:
  /// Counts one event and wakes all waiting threads.
  void notify() {
    const std::scoped_lock lock(mutex_);
    ++count_;
    // Under the lock: the woken thread may destroy the signal as soon as it gets the lock.
    changed_.notify_all();
  }

  /// Number of events so far.
  std::uint64_t now() const {
    const std::scoped_lock lock(mutex_);
    return count_;
  }

  /// Waits until more events have happened than `seen`; true then, false when `timeout` passed without (an hour at
  /// most).
  bool wait_past(std::uint64_t seen, std::chrono::nanoseconds timeout) const {
    const std::chrono::nanoseconds longest = std::chrono::hours(1);  // far ones would overflow the clock
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::min(timeout, longest), [&] { return count_ != seen; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

}  // namespace dsea
