#include "dsea/device/host_queue.hpp"

#include <thread>

#include "dsea/base/check.hpp"
#include "dsea/base/hash.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {

struct HostQueue::Task {
  alignas(64) std::byte storage[Stream::max_task_bytes];
  Function function = nullptr;
  bool always = false;
};

HostQueue::HostQueue(std::size_t length, std::uint64_t delay_seed)
    : length_(length), tasks_(std::make_unique<Task[]>(length)), random_(delay_seed) {}

HostQueue::~HostQueue() {
  for (; begin_ != end_; ++begin_) {
    Task& task = tasks_[begin_ % length_];
    task.function(task.storage, false);
  }
}

void* HostQueue::begin(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!finished_.wait_for(lock, limit, [&] { return end_ - begin_ < length_; })) return nullptr;
  return tasks_[end_ % length_].storage;
}

void HostQueue::commit(Function function, bool always) {
  const std::scoped_lock lock(mutex_);
  Task& task = tasks_[end_ % length_];
  task.function = function;
  task.always = always;
  ++end_;
  added_.notify_one();
}

void HostQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [&] { return begin_ != end_ || closed_; });
    if (begin_ == end_) return;
    Task& task = tasks_[begin_ % length_];
    lock.unlock();
    run(task);
    lock.lock();
    ++begin_;
    finished_.notify_all();
  }
}

void HostQueue::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  added_.notify_one();
}

void HostQueue::run_oldest() {
  std::unique_lock lock(mutex_);
  DSEA_CHECK(begin_ != end_, "no task is queued");
  Task& task = tasks_[begin_ % length_];
  lock.unlock();
  run(task);
  lock.lock();
  ++begin_;
  finished_.notify_all();
}

void HostQueue::drain() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return begin_ == end_; });
}

std::exception_ptr HostQueue::error() const {
  const std::scoped_lock lock(mutex_);
  return error_;
}

void HostQueue::run(Task& task) {
  if (!task.always) {
    if (error() != nullptr) {
      task.function(task.storage, false);
      return;
    }
    if (random_ != 0) pause();
  }
  try {
    task.function(task.storage, true);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (error_ == nullptr) error_ = std::current_exception();
  }
}

/// Nothing, some kernels' time, or much more: three kinds of lateness.
void HostQueue::pause() {
  random_ = mix64(random_ + 0x9e3779b97f4a7c15ULL) | 1;  // never 0, which would end the pauses
  const std::uint64_t kind = random_ >> 62;
  if (kind == 0) return;
  const std::uint64_t longest_us = kind == 3 ? 2000 : 200;
  std::this_thread::sleep_for(std::chrono::microseconds((random_ >> 8) % longest_us));
}

}  // namespace dsea
