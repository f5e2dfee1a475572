#include "dsea/comm/ucx_loop.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

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
  while (!stop.stop_requested()) {
    const Idle idle = look_();
    if (!idle.quiet) continue;
    files_.assign(1, {wake_, POLLIN, 0});
    for (const auto& rail : *rails_) {
      if (rail) files_.push_back({rail->event_fd(), POLLIN, 0});
    }
    const auto ms = idle.pause.count();
    const timespec time{ms / 1000, ms % 1000 * 1'000'000};
    if (ppoll(files_.data(), files_.size(), &time, nullptr) > 0 && (files_.front().revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      static_cast<void>(read(wake_, &count, sizeof count));
    }
  }
}

}  // namespace dsea::detail
