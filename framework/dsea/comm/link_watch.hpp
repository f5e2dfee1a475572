// Judges a neighbour by what is heard of it: is it silent, does a connection to it stand still?
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

#include "dsea/comm/deadline.hpp"
#include "dsea/comm/traffic.hpp"

namespace dsea {

/// Pure logic: whoever uses it brings the time. Times are not judged by themselves: a process that was suspended
/// together with all others finds that nobody has been heard of for long, itself included. Not thread safe.
class LinkWatch {
 public:
  using Duration = std::chrono::nanoseconds;

  /// How often each side is to be heard of, given how long it may be silent: a twentieth, 50 ms to 1 s.
  static Duration beat(Duration timeout) {
    return std::clamp<Duration>(timeout / 20, std::chrono::milliseconds(50), std::chrono::seconds(1));
  }

  LinkWatch(Duration timeout, Clock::time_point now) : timeout_(timeout), ran_(now), heard_(now) {
    for (Link& link : links_) link.moved = now;
  }

  /// To be called at every look, once a beat at least. If there was none for a few beats this process did not run
  /// itself, and all is counted anew.
  void looks(Clock::time_point now) {
    if (now - ran_ > 5 * beat(timeout_)) {
      heard_ = now;
      for (Link& link : links_) link.moved = now;
    }
    ran_ = now;
  }

  /// The neighbour has said something.
  void heard(Clock::time_point now) { heard_ = now; }

  /// What the two ports of a connection are at: the sending one here, the receiving one there.
  void activity(Connection connection, const Activity& sending, const Activity& receiving, Clock::time_point now) {
    Link& link = links_[connection];
    if (sending != link.sending || receiving != link.receiving) link.moved = now;
    link.sending = sending;
    link.receiving = receiving;
  }

  bool silent(Clock::time_point now) const { return now - heard_ >= timeout_; }

  /// The receiver waits for a transfer that the sender has begun, and neither has moved; and it is not that the
  /// neighbour is silent. A small transfer may be over for its sender long before it arrives.
  bool stalled(Connection connection, Clock::time_point now) const {
    const Link& link = links_[connection];
    const bool both_ready =
        link.receiving.started > link.receiving.completed && link.sending.started >= link.receiving.started;
    return both_ready && now - link.moved >= timeout_ && now - heard_ < timeout_ / 2;
  }

 private:
  struct Link {
    Activity sending, receiving;
    Clock::time_point moved;  // anything
  };

  Duration timeout_;
  Clock::time_point ran_;    // this process
  Clock::time_point heard_;  // the neighbour
  std::array<Link, connections> links_{};
};

}  // namespace dsea
