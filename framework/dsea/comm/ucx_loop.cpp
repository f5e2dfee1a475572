#include "dsea/comm/ucx_loop.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "dsea/base/backoff.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/threads.hpp"

namespace dsea::detail {

UcxLoop::UcxLoop() : wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wake_ < 0) throw RunError("ucx: no file for waking a thread up: too many files are open (ulimit -n)");
}

UcxLoop::~UcxLoop() {
  stop();
  close(wake_);
}

void UcxLoop::start(UcxRails& rails, std::function<Idle()> look) {
  rails_ = &rails;
  look_ = std::move(look);
  files_.reserve(rails.size() + 1);
  thread_ = std::jthread([this](const std::stop_token& stop) {
    block_signals();
    name_this_thread("dsea ucx");
    work(stop);
  });
}

void UcxLoop::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  wake();
  thread_.join();
}

void UcxLoop::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(write(wake_, &one, sizeof one) == sizeof one);  // full: the thread will wake up anyway
}

void UcxLoop::work(const std::stop_token& stop) {
  Backoff backoff;
  bool again = true;
  while (!stop.stop_requested()) {
    const Idle idle = look_();
    if (idle.moved) {
      backoff.reset();
      again = true;
      continue;
    }
    files_.assign(1, {wake_, POLLIN, 0});
    bool all_armed = true;
    for (const auto& rail : *rails_) {
      if (rail && rail->armed()) files_.push_back({rail->event_fd(), POLLIN, 0});
      all_armed = all_armed && (!rail || rail->armed());
    }
    // UCX lets nobody sleep while another process is just writing to its shared memory, or leaves no room in its own.
    // That ends without an event, perhaps only when that process gets a core: so look once more, then sleep in between.
    if (!all_armed && std::exchange(again, false)) continue;
    const std::chrono::nanoseconds pause = all_armed ? idle.pause : std::chrono::nanoseconds(backoff.next());
    const timespec time{pause.count() / 1'000'000'000, pause.count() % 1'000'000'000};
    const int ready = ppoll(files_.data(), files_.size(), &time, nullptr);
    std::size_t file = 1;
    for (const auto& rail : *rails_) {
      if (!rail || !rail->armed()) continue;
      if (files_[file++].revents != 0 || (all_armed && ready <= 0)) rail->woken();
    }
    if (ready > 0 && files_.front().revents != 0) {
      std::uint64_t count = 0;
      static_cast<void>(read(wake_, &count, sizeof count));
    }
  }
}

}  // namespace dsea::detail
