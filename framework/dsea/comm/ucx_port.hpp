// What both directions of a connection by UCX share: rails that may be lost one after the other. For ucx_*.cpp only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dsea/comm/deadline.hpp"
#include "dsea/comm/segments.hpp"
#include "dsea/comm/traffic.hpp"
#include "dsea/comm/transport.hpp"
#include "dsea/comm/ucx_loop.hpp"
#include "dsea/comm/ucx_protocol.hpp"

namespace dsea::detail {

struct UcxPortOptions {
  std::string name;                     ///< "ucx: sending from rank 0 on en1 to rank 1 on en2"
  std::vector<std::string> rail_names;  ///< "rail0"
  bool within_node = false;             ///< by shared memory
  std::size_t longest_chunk = std::size_t{4} << 20;
  std::chrono::nanoseconds link_timeout = std::chrono::seconds(20);  ///< a rail of several: half of it
  std::size_t window = 3;                                            ///< chunks of a rail under way; relays need more
  bool device_memory = false;
  std::function<void(const std::string&)> warn;  ///< a line for the log; any thread
  std::function<bool()> failing;  ///< is the run ending because some rank failed? Then lost rails are no news
  std::function<bool(std::size_t rail, std::uint64_t transfer, std::size_t chunk)> breaks;  ///< of a sender, for tests
};

/// Derived classes work in the port's thread with the mutex held, but for start and wait.
class UcxPort : public TrafficCounter {
 public:
  std::vector<RailTraffic> rails() const;
  /// See Transport. Where it fails UCX registers memory when it is sent first, and a warning says so.
  void use_memory(void* data, std::size_t bytes, bool on_device);
  /// Ends the thread: nothing goes through any more. May be called twice; the last before the port goes.
  void stop_thread() { loop_.stop(); }

 protected:
  static constexpr std::size_t most_under_way = 12;  // chunks of a rail
  static constexpr std::uint64_t ahead = 4;  // short transfers that a sender may have complete before they are received

  UcxPort(UcxRails rails, UcxPortOptions options);
  ~UcxPort() override;

  /// To be called last when a port is made, and stop_thread() first when it goes.
  void start_thread();

  /// Works off what one rail has. True if something moved. UcxRailError: the rail is lost.
  virtual bool look_at(std::size_t rail) = 0;
  /// Goes on with the transfer. True if something moved. RunError: the connection is broken.
  virtual bool advance() = 0;
  /// The rail is closed: what was under way on it is to be forgotten.
  virtual void rail_is_lost(std::size_t rail) = 0;
  virtual void begin() = 0;

  void start_transfer(std::span<const Segment> segments);
  bool wait_for(std::chrono::nanoseconds timeout);
  /// The transfer under way is complete.
  void complete();

  /// Gives a rail up. Throws RunError if it was the last one.
  void lose(std::size_t rail, const std::string& why);
  /// Fills a message with the memory of a chunk.
  void chunk_pieces(UcxMessage& message, std::size_t chunk) const;
  bool send_small(std::size_t rail, UcxKind kind, std::uint64_t transfer, std::uint64_t number,
                  std::span<const std::byte> bytes = {});
  void count_rail_bytes(std::size_t rail, std::size_t bytes) { rail_bytes_[rail] += bytes; }
  std::size_t live_rails() const;
  /// One message, copied on both sides? Both decide alike.
  bool is_small() const { return segments_.bytes() <= ucx_small && !segments_.on_device(); }

  UcxRails rails_;
  const UcxPortOptions options_;
  mutable std::mutex mutex_;       // guards all below
  std::vector<std::string> lost_;  // why, by rail; empty: not lost
  SegmentList segments_;
  UcxChunks chunks_;
  std::uint64_t transfers_ = 0;  // complete, seen by wait
  bool busy_ = false;
  bool complete_ = false;  // the one under way

 private:
  UcxLoop::Idle look();
  void close_rail(std::size_t rail);
  /// Those of rails lost a moment ago, unless the run ends: a rank that died takes its rails along.
  void say_warnings();
  Clock::time_point warn_at_{};
  /// Calls step(rail) for the live ones; a rail for which it throws is lost.
  template <class Step>
  bool each_rail(Step step);

  std::vector<std::uint64_t> rail_bytes_;
  std::vector<std::string> warnings_;  // of rails lost while nothing was to be moved: perhaps the other side has ended
  std::string error_;                  // after it nothing goes through
  std::condition_variable changed_;
  UcxLoop loop_;
};

}  // namespace dsea::detail
