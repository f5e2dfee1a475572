// Sleeping between looks at something that cannot wake a thread up, such as a message library.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace dsea {

/// For one thread. Pauses start short, so that an answer that is near is seen soon, and double to 200 us; from then on
/// a pause is 1/32 of the time waited, at most 10 ms: an answer is seen 3 % late at worst, and a waiting thread costs
/// next to nothing.
///
///   for (dsea::Backoff backoff; !done;) {
///     if (made_progress()) backoff.reset(); else backoff.pause();
///   }
class Backoff {
 public:
  using Duration = std::chrono::microseconds;
  static constexpr Duration first{20};          ///< after progress
  static constexpr Duration longest_busy{200};  ///< until it is a small part of the time waited
  static constexpr int part = 32;
  static constexpr Duration longest{10'000};

  /// There was progress: the next pause is short again.
  void reset() {
    pause_ = Duration{0};
    idle_ = Duration{0};
  }

  /// The length of the next pause, which counts as taken.
  Duration next() {
    pause_ = pause_ == Duration{0} ? first : std::min(2 * pause_, std::clamp(idle_ / part, longest_busy, longest));
    idle_ = std::min(idle_ + pause_, part * longest);  // no further: it must not overflow
    return pause_;
  }

  void pause() { std::this_thread::sleep_for(next()); }

 private:
  Duration pause_{0};
  Duration idle_{0};
};

}  // namespace dsea
