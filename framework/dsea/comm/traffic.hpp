// How much has gone through a port.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dsea/comm/transport.hpp"

namespace dsea {

/// Completed transfers and their bytes.
struct Traffic {
  std::uint64_t transfers = 0;
  std::uint64_t bytes = 0;
};

/// What a port is at. While `started` is above `completed` a transfer is under way.
struct Activity {
  std::uint64_t started = 0;    ///< transfers begun
  std::uint64_t completed = 0;  ///< transfers
  std::uint64_t moved = 0;      ///< messages of transfers that have arrived or left
  bool operator==(const Activity&) const = default;
};

/// A rank has two connections to the next one: what circulates goes by one, slices of the start by the other.
enum Connection : std::size_t { ring_connection, load_connection };
inline constexpr std::size_t connections = 2;

/// What every port of this library also is. The port's thread counts; any thread may read.
class TrafficCounter {
 public:
  virtual ~TrafficCounter() = default;

  Traffic traffic() const {
    return {transfers_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
  }
  Activity activity() const {
    return {started_.load(std::memory_order_relaxed), transfers_.load(std::memory_order_relaxed),
            moved_.load(std::memory_order_relaxed)};
  }

 protected:
  void count_start() { started_.fetch_add(1, std::memory_order_relaxed); }
  void count_move() { moved_.fetch_add(1, std::memory_order_relaxed); }
  void count_transfer(std::size_t bytes) {
    transfers_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> moved_{0};
  std::atomic<std::uint64_t> transfers_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

/// The traffic of a port; zeros for a port that does not count.
template <class Port>
Traffic traffic_of(const Port& port) {
  const auto* counter = dynamic_cast<const TrafficCounter*>(&port);
  return counter != nullptr ? counter->traffic() : Traffic{};
}

}  // namespace dsea
