// Which ranks of a job are alive, and news of failures, on a path of their own: TCP over a network that need not carry
// data. MPI reports no dead peer, and no library one that is stopped or a network that is cut in silence.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "dsea/comm/control_link.hpp"
#include "dsea/comm/control_start.hpp"
#include "dsea/comm/link_watch.hpp"
#include "dsea/comm/transport.hpp"

namespace dsea {

struct HeartbeatOptions {
  /// A rank that is silent for so long has failed; so has a connection between ready ports in which nothing moves.
  std::chrono::nanoseconds link_timeout = std::chrono::seconds(20);
  std::string device = "auto";              ///< the network device for heartbeats
  std::vector<std::string> data_devices{};  ///< rails: used for heartbeats only where there is nothing else
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(120);
  /// Ends the process and the job. Called from a thread of its own when the process still runs 3 s after a failure
  /// became known, even if the heartbeat is gone by then; gets what has failed, which perhaps nobody has said. May be
  /// empty.
  std::function<void(const std::string& why)> last_resort{};
};

/// Each rank has one connection to the next and one to the previous rank, and one thread that sleeps between beats, of
/// which there are 20 within `link_timeout`, but at least one and at most 20 a second. A closed connection is noticed
/// at once. News of a failure travel along the ring in both directions; the first news that reach a rank stay. What two
/// neighbouring ranks' ports are at travels with the beats, so that a stalled connection is told from a waiting one.
///
/// Covered are ranks that are dead, stopped or cut off from the network of the heartbeats, at any time between
/// construction and finish(), and stalled connections from a rank to the next, by which all slices and results go.
///
/// All members may be called from any thread. A single rank has no connections and no thread.
class Heartbeat {
 public:
  /// All ranks' bytes, by rank, on every rank; collective, as the constructor is. Throws RunError at the deadline.
  using Exchange =
      std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte> mine, Clock::time_point deadline)>;

  /// Throws on all ranks, and the same, if one cannot take part: UsageError for a device that is not there or by which
  /// others do not reach it, RunError if no connection can be made.
  Heartbeat(int rank, int ranks, const Exchange& exchange, HeartbeatOptions options);
  /// Without finish() the other ranks take this one as having failed.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Says goodbye to the neighbours, so that this rank's end is no failure; waits up to 2 s for theirs. Once.
  void finish() noexcept;

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  std::string why() const;              ///< empty while nothing has failed
  std::string name(int rank) const;     ///< "rank 2 on en3"
  Clock::time_point failed_at() const;  ///< when failed() became true here
  std::chrono::nanoseconds link_timeout() const { return options_.link_timeout; }

  /// This job fails: all ranks are told, unless they know of another failure already. Returns when that is written, or
  /// after 0.5 s.
  void tell_all(const std::string& why) noexcept;

  /// A rank's ends of its connections to the next rank and from the previous one; null where there is none.
  struct Ports {
    const SendPort* to_next = nullptr;
    const ReceivePort* from_previous = nullptr;
  };
  /// What to watch from now on: ports that are TrafficCounters, too, by Connection; owned by `owner`, which calls
  /// unwatch() before they go.
  void watch(const void* owner, const std::array<Ports, connections>& ports);
  /// Nothing if another owner's ports are watched meanwhile.
  void unwatch(const void* owner);

  /// Throws RunError if that connection to the next rank is stalled.
  void check_to_next(Connection connection) const;

 private:
  void connect(const Exchange& exchange);
  void run();
  void look(Clock::time_point now);
  void hear(ControlLink& link, LinkWatch& watch, bool& left, int other, Clock::time_point now);
  void judge(Clock::time_point now);
  void beat();
  void note_failure(const std::string& why);
  void wake() const;
  struct Watched {
    const TrafficCounter* sending = nullptr;
    const TrafficCounter* receiving = nullptr;
  };
  struct Stall {
    std::atomic<bool> now{false};
    std::string text;  // guarded by mutex_
  };
  std::array<Activity, connections> activity(const TrafficCounter* Watched::*direction) const;
  std::string stall_text(Connection connection) const;

  const int rank_;
  const int ranks_;
  const HeartbeatOptions options_;
  std::vector<std::string> hosts_;    // by rank
  std::vector<std::string> devices_;  // of the data, and those that were up at the start
  FileDescriptor wake_;               // an event: there is something to say

  mutable std::mutex mutex_;
  std::condition_variable told_;
  std::string why_;
  Clock::time_point failed_at_{};
  bool all_told_ = false;
  const void* watching_for_ = nullptr;
  std::array<Watched, connections> watched_{};
  std::array<Stall, connections> stalls_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> stopping_{false};

  // The thread's own.
  ControlLinks links_;
  LinkWatch next_watch_, previous_watch_;
  bool next_left_ = false, previous_left_ = false;  // has said goodbye
  bool failure_sent_ = false;
  bool goodbye_sent_ = false;
  std::jthread thread_;
};

}  // namespace dsea
