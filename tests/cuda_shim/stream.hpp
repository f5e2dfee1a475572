// Streams and events: queues that run only when somebody waits, and marks in them.
//
// Nothing runs when it is queued. Whoever waits for a mark runs the work before it, in his own thread, and of other
// streams only what that work waits for. So work that does not wait for what it needs runs too early. Host functions
// run in a thread of their stream, since they may block.
//
// Everything here is used under the runtime's lock.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace shim {

struct Stream;

/// A place in a stream: reached when that many operations are done.
struct Mark {
  std::shared_ptr<Stream> stream;
  std::uint64_t place = 0;

  bool reached() const;
};

struct Event {
  int device = 0;
  bool timing = false;
  std::optional<Mark> mark;  ///< the last record
  std::chrono::steady_clock::time_point time{};
  int patience = 0;  ///< questions until the work is run
};

struct Operation {
  std::function<std::string()> run;  ///< gives what was wrong; one of the three is set
  std::optional<Mark> wait_for;
  std::function<void()> host;
};

/// A thread that runs one host function at a time.
class HostThread {
 public:
  /// `finished` is called in the thread after each function.
  explicit HostThread(std::function<void()> finished);
  ~HostThread();
  void start(std::function<void()> function);

 private:
  void work();

  std::function<void()> finished_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> function_;
  bool closed_ = false;
  std::thread thread_;
};

struct Stream {
  int device = 0;
  std::deque<Operation> queue;
  std::uint64_t queued = 0;  ///< operations so far
  std::uint64_t done = 0;
  std::uint64_t wanted = 0;  ///< how far somebody wants it to run; a host function that ends lets it go on until there
  bool in_host_function = false;  ///< the oldest one is one and has been started
  std::unique_ptr<HostThread> host_thread;
};

/// Whether the calling thread is running a host function, from which CUDA must not be used.
bool in_host_function();

}  // namespace shim
