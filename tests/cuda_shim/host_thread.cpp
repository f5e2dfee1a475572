#include <utility>

#include "cuda_shim/stream.hpp"

namespace shim {

namespace {

thread_local bool host_function_here = false;

}  // namespace

bool in_host_function() { return host_function_here; }

HostThread::HostThread(std::function<void()> finished) : finished_(std::move(finished)), thread_([this] { work(); }) {}

HostThread::~HostThread() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HostThread::start(std::function<void()> function) {
  {
    const std::scoped_lock lock(mutex_);
    function_ = std::move(function);
  }
  changed_.notify_all();
}

void HostThread::work() {
  host_function_here = true;
  for (;;) {
    std::function<void()> function;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || function_; });
      if (!function_) return;
      function = std::exchange(function_, nullptr);
    }
    function();
    finished_();
  }
}

}  // namespace shim
