// One direction of a connection between two ranks in one address space.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "dsea/comm/deadline.hpp"
#include "dsea/comm/segments.hpp"

namespace dsea {

/// Where the two ends of a local port meet: the receiver copies straight from the memory that the sender offers. Small
/// transfers from host memory are kept in a few slots, so that the sender need not wait; while one of its transfers is
/// on offer it has no other, so whatever is in the slots is older than the offer. One thread sends, one receives, any
/// thread may stop the channel. No allocation after construction.
class LocalChannel {
 public:
  static constexpr std::size_t slot_bytes = 4096;
  static constexpr std::size_t slots = 4;

  LocalChannel(int from, int to);

  // The sender's side.
  /// Begins a transfer. `segments` must stay as they are until wait_sent() is true, or the channel is stopped or
  /// closed.
  void send(const SegmentList& segments);
  /// True when the transfer is complete, false at the deadline or once the channel is stopped.
  bool wait_sent(Clock::time_point deadline);
  /// Nothing more will be sent; takes back what is on offer, once a copy under way has ended. Any thread.
  void close_sender() noexcept;

  // The receiver's side.
  /// Waits for the next transfer and copies it. False at the deadline or once the channel is stopped.
  bool receive(const SegmentList& into, const Transport::Copy& copy, Clock::time_point deadline);
  /// Nothing more will be received. Any thread.
  void close_receiver() noexcept;

  // Stopping, from any thread and any number of times, in this order.
  /// No copy begins after this, and waits until one under way has ended.
  void stop() noexcept;
  /// Lets all waiting threads go.
  void release() noexcept;

 private:
  enum class Phase { running, stopping, stopped };

  struct Slot {
    std::vector<std::byte> memory;
    std::size_t bytes = 0;
  };

  /// Waits until a copy under way has ended; given up after 10 s, in case a device hangs in it.
  void wait_for_copy(std::unique_lock<std::mutex>& lock) noexcept;
  void fail_if_broken() const;
  [[noreturn]] void break_off(const std::string& why);

  const int from_;
  const int to_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // All below are guarded by mutex_; the memory of the front slot and of the offer also by copying_.
  Phase phase_ = Phase::running;
  bool copying_ = false;
  bool sender_gone_ = false;
  bool receiver_gone_ = false;
  std::string broken_;  // why this channel can go on no more
  std::array<Slot, slots> slots_;
  std::size_t first_ = 0;  // the oldest slot in use
  std::size_t used_ = 0;
  const SegmentList* offer_ = nullptr;
  unsigned long long received_ = 0;  // transfers
};

}  // namespace dsea
