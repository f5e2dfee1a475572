// Says what everybody was waiting for when somebody ends the process from outside.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dsea/base/log.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

/// Takes SIGTERM and SIGINT for the whole process in a thread of its own: prints every ring's state to stderr and ends
/// the process with 128 + signal. A launcher sends SIGTERM to the survivors when a rank has died. Make one before any
/// other thread is started; one at a time in a process.
class SignalWatch {
 public:
  explicit SignalWatch(const Log& log);
  ~SignalWatch();
  void ring(const Ring& ring, bool alive);
  /// The process is about to end anyway and has said why: from now on a signal ends it in silence, with this code.
  void ending(int exit_code) { ending_ = exit_code; }

 private:
  void watch(const std::stop_token& stop);
  std::string known_cause() const;
  Log log_;
  std::atomic<int> ending_{-1};
  std::mutex mutex_;
  std::vector<const Ring*> rings_;
  std::jthread thread_;
};

}  // namespace dsea
