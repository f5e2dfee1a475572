#include "dsea/app/signal_watch.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "dsea/base/threads.hpp"

namespace dsea {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

SignalWatch::SignalWatch(const Log& log) : log_(log) {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // inherited by all later threads
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  thread_.join();
  const sigset_t set = watched();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void SignalWatch::ring(const Ring& ring, bool alive) {
  const std::scoped_lock lock(mutex_);
  if (alive)
    rings_.push_back(&ring);
  else
    std::erase(rings_, &ring);
}

std::string SignalWatch::known_cause() const {
  // The launcher and the heartbeats notice a dead rank at about the same time.
  for (int looks = 0; looks < 10; ++looks) {
    for (const Ring* ring : rings_) {
      if (const std::string why = ring->failure(); !why.empty()) return why;
    }
    if (!rings_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

void SignalWatch::watch(const std::stop_token& stop) {
  block_signals();
  name_this_thread("dsea signals");
  const sigset_t set = watched();
  const timespec tick{0, 200'000'000};
  while (!stop.stop_requested()) {
    const int signal = sigtimedwait(&set, nullptr, &tick);
    if (signal <= 0) continue;
    if (ending_ >= 0) std::_Exit(ending_);
    const std::scoped_lock lock(mutex_);
    // The launcher ends a process that is about to end because of a failure, and has said so.
    if (std::ranges::any_of(rings_, &Ring::has_said_stop)) std::_Exit(static_cast<int>(ExitCode::failed));
    const std::string cause = signal == SIGTERM ? known_cause() : std::string();
    const char* const name = signal == SIGTERM ? "SIGTERM" : (signal == SIGINT ? "SIGINT" : "SIGHUP");
    for (const Ring* ring : rings_) log_.error("state when ", name, " came:\n", ring->describe());
    // Last, where users look first: the states are not the cause.
    const char* const why = !cause.empty() ? ""
                            : signal == SIGTERM
                                ? ": a launcher sends it when another rank has died, whose error is further "
                                  "up, or at the time limit"
                            : signal == SIGHUP ? ": the terminal was closed; nohup or a job keeps a run"
                                               : "";
    log_.error("ended by ", name, cause.empty() ? "" : ": ", cause, why);
    std::fflush(nullptr);
    std::_Exit(128 + signal);
  }
}

}  // namespace dsea
