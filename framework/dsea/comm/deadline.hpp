// Time-outs as points in time.
#pragma once

#include <algorithm>
#include <chrono>

namespace dsea {

using Clock = std::chrono::steady_clock;

/// `timeout` from now, a day at most: later points in time would overflow the clock.
inline Clock::time_point deadline_after(std::chrono::nanoseconds timeout) {
  return Clock::now() + std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(24));
}

/// What is left until then, not below zero.
inline std::chrono::nanoseconds time_left(Clock::time_point deadline) {
  return std::max<std::chrono::nanoseconds>(deadline - Clock::now(), std::chrono::nanoseconds{0});
}

}  // namespace dsea
