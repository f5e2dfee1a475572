// Sleeping between looks at something that cannot wake a thread up, such as a message library.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace dsea {

/// For one thread. Pauses start short, so that an answer that is near is seen soon, grow to 200 us, and after 50 ms
/// without work to 2 ms, where a waiting thread costs next to nothing:
///
///   for (dsea::Backoff backoff; !done;) {
///     if (made_progress()) backoff.reset(); else backoff.pause();
///   }
class Backoff {
 public:
  using Duration = std::chrono::microseconds;
  static constexpr Duration first{20};          ///< after progress
  static constexpr Duration longest_busy{200};  ///< in the first `busy_for`
  static constexpr Duration busy_for{50'000};   ///< sum of the pauses since the last progress
  static constexpr Duration longest{2'000};     ///< for good

  /// There was progress: the next pause is short again.
  void reset() {
    pause_ = Duration{0};
    idle_ = Duration{0};
  }

  /// The length of the next pause, which counts as taken.
  Duration next() {
    pause_ = pause_ == Duration{0} ? first : std::min(2 * pause_, idle_ < busy_for ? longest_busy : longest);
    idle_ = std::min(idle_ + pause_, busy_for);  // no further: it must not overflow
    return pause_;
  }

  void pause() { std::this_thread::sleep_for(next()); }

 private:
  Duration pause_{0};
  Duration idle_{0};
};

}  // namespace dsea
