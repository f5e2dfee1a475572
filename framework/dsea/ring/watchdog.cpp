// The watchdog: ends the job with an explanation when a rank has made no progress for too long.
#include <cstdio>
#include <cstdlib>

#include "dsea/base/threads.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

void Ring::watchdog_role() {
  using Clock = std::chrono::steady_clock;
  block_signals();
  name_this_thread(cat("dsea dog ", rank_));
  const std::chrono::duration<double> limit(options_.watchdog_seconds);
  std::uint64_t last = progress_;
  Clock::time_point since = Clock::now();
  for (;;) {
    const std::uint64_t seen = watchdog_wake_.now();
    if (threads_done_) return;
    watchdog_wake_.wait_past(seen, std::min(std::chrono::nanoseconds(std::chrono::milliseconds(200)),
                                            std::chrono::duration_cast<std::chrono::nanoseconds>(limit / 8)));
    if (threads_done_) return;
    const std::uint64_t now = progress_;
    if (now != last) {
      last = now;
      since = Clock::now();
      continue;
    }
    if (Clock::now() - since < limit) continue;
    if (said_stop_) continue;  // another rank has said why all stop, and its news end this process, too
    const std::string cause = cat(transport_.who(), ": no progress for ", options_.watchdog_seconds,
                                  " s; the run ends. If a stage really takes that long, raise [ring] watchdog");
    log_.error(cause, "\n", describe());
    // The other ranks stand still as well and say what they wait for: processes when they are told, rings in this
    // process by their own watchdogs. The cause is the last line here, too.
    if (transport_.in_one_process()) {
      watchdog_wake_.wait_past(watchdog_wake_.now(), std::chrono::milliseconds(1000));
      log_.error(cause);
    }
    said_stop_ = true;
    std::fflush(nullptr);
    transport_.fail(static_cast<int>(ExitCode::failed), cause);
    // A thread that never comes back cannot be joined, so the process ends here.
    std::_Exit(static_cast<int>(ExitCode::failed));
  }
}

}  // namespace dsea
