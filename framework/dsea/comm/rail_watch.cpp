#include "dsea/comm/rail_watch.hpp"

#include <algorithm>

namespace dsea {

RailWatch::RailWatch(std::size_t rails, std::chrono::nanoseconds link_timeout)
    : rails_(rails), link_timeout_(link_timeout) {}

void RailWatch::heard(std::size_t rail, Clock::time_point now) {
  rails_[rail].heard = rails_[rail].moved = now;
  rails_[rail].pinged.reset();
}

void RailWatch::look(bool waits, Clock::time_point now) {
  if (now - looked_ > asleep || !waits_) {
    for (Rail& rail : rails_) {
      rail.moved = now;
      rail.pinged.reset();
    }
  }
  looked_ = now;
  waits_ = waits;
}

bool RailWatch::wants_ping(std::size_t rail, Clock::time_point now) const {
  const Rail& r = rails_[rail];
  return waits_ && r.live && !r.pinged && now - r.moved > ping_after;
}

bool RailWatch::is_dead(std::size_t rail, Clock::time_point now) const {
  const Rail& r = rails_[rail];
  if (!r.live || !r.pinged || now - r.moved < link_timeout_ / 2) return false;
  return std::any_of(rails_.begin(), rails_.end(), [&](const Rail& other) {
    return &other != &r && other.live && other.heard > *r.pinged + ping_after;
  });
}

bool RailWatch::all_silent(Clock::time_point now) const {
  return std::all_of(rails_.begin(), rails_.end(),
                     [&](const Rail& rail) { return !rail.live || (rail.pinged && now - rail.moved > link_timeout_); });
}

std::size_t RailWatch::best() const {
  std::size_t best = 0;
  for (std::size_t r = 1; r < rails_.size(); ++r) {
    if (rails_[r].live && (!rails_[best].live || rails_[r].heard > rails_[best].heard)) best = r;
  }
  return best;
}

}  // namespace dsea
