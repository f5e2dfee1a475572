// A bounded queue of tasks that live inside it: nothing is allocated after its construction. Private to the device
// layer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

namespace dsea {

/// One thread adds tasks, one at a time runs them: a thread of its own (work), or whoever calls run_oldest.
class HostQueue {
 public:
  using Function = void (*)(void* task, bool run);  ///< runs the task, if told so, and destroys it

  /// With delay_seed != 0 there are random pauses before tasks.
  HostQueue(std::size_t length, std::uint64_t delay_seed);
  ~HostQueue();  ///< destroys tasks that nobody ran
  HostQueue(const HostQueue&) = delete;
  HostQueue& operator=(const HostQueue&) = delete;

  /// Storage for the next task; null if there is no room for so long.
  void* begin(std::chrono::milliseconds limit);

  /// The task is complete in its storage. `always`: also run after an error, and without a pause.
  void commit(Function function, bool always);

  /// Runs tasks until close() was called and none is left.
  void work();
  void close();

  /// Runs the oldest task. There must be one.
  void run_oldest();

  /// Waits until all tasks are done.
  void drain();

  /// The first exception of a task, after which tasks are skipped.
  std::exception_ptr error() const;

 private:
  struct Task;

  void run(Task& task);
  void pause();

  const std::size_t length_;
  const std::unique_ptr<Task[]> tasks_;
  std::uint64_t random_;

  mutable std::mutex mutex_;
  std::condition_variable added_, finished_;
  std::uint64_t begin_ = 0;  ///< tasks finished so far
  std::uint64_t end_ = 0;    ///< tasks added so far
  bool closed_ = false;
  std::exception_ptr error_;
};

}  // namespace dsea
