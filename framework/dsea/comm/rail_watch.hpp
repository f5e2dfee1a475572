// Which rails of a sender are silent: pure logic on times, without a network.
//
// A rail on which nothing moves for a second, although something is waited for, is pinged. It is to be given up when it
// has been silent for half of the link's time-out while another one has answered meanwhile: that one proves that the
// receiver is well and the network not cut as a whole. When all have been silent for the whole time-out the link is
// cut.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "dsea/comm/deadline.hpp"

namespace dsea {

/// Not thread safe. Times are those of the caller's clock and never go back.
class RailWatch {
 public:
  static constexpr std::chrono::seconds ping_after{1};
  /// Between two calls of look(): the process itself was stopped meanwhile, so silence counts anew.
  static constexpr std::chrono::seconds asleep{3};

  RailWatch(std::size_t rails, std::chrono::nanoseconds link_timeout);

  /// Something went out by this rail, or has arrived from the receiver by it, which answers a ping.
  void sent(std::size_t rail, Clock::time_point now) { rails_[rail].moved = now; }
  void heard(std::size_t rail, Clock::time_point now);
  void pinged(std::size_t rail, Clock::time_point now) { rails_[rail].pinged = now; }
  void lost(std::size_t rail) { rails_[rail].live = false; }

  /// To be called several times a second; `waits`: something is under way or not acknowledged.
  void look(bool waits, Clock::time_point now);

  bool wants_ping(std::size_t rail, Clock::time_point now) const;
  /// To be given up.
  bool is_dead(std::size_t rail, Clock::time_point now) const;
  /// None has answered for the whole time-out.
  bool all_silent(Clock::time_point now) const;
  /// The live rail that was heard of last.
  std::size_t best() const;

 private:
  struct Rail {
    bool live = true;
    Clock::time_point moved{}, heard{};
    std::optional<Clock::time_point> pinged;  // not answered yet
  };
  std::vector<Rail> rails_;
  const std::chrono::nanoseconds link_timeout_;
  Clock::time_point looked_{};
  bool waits_ = false;
};

}  // namespace dsea
