#include "dsea/device/event.hpp"

#include <algorithm>

#include "dsea/base/backoff.hpp"
#include "dsea/base/check.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/signal.hpp"
#include "dsea/device/cuda_api.hpp"
#include "dsea/device/event_state.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {

EventState::EventState(bool on_cuda, bool with_timing) : cuda(on_cuda), timing(with_timing) {
  if (cuda) native = cuda::make_event(timing);
}

EventState::~EventState() {
  if (native != nullptr) cuda::destroy_event(native);
}

void EventState::complete(std::uint64_t record) {
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return completed.load(std::memory_order_relaxed) + 1 >= record; });
    if (timing) time = std::chrono::steady_clock::now();
    completed.store(record, std::memory_order_release);
    changed.notify_all();
  }
  if (signal != nullptr) signal->notify();
}

void EventState::wait(std::uint64_t record) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return completed.load(std::memory_order_relaxed) >= record; });
}

Event::Event(const Device& device, bool timing) {
  device.make_current();
  state_ = std::make_shared<EventState>(device.is_cuda(), timing);
}

void Event::record(Stream& stream) {
  DSEA_CHECK(state_ != nullptr, "a default event cannot be recorded");
  DSEA_CHECK(state_->cuda == stream.is_cuda(), "the event and stream '", stream.name(), "' have different devices");
  if (state_->cuda) {
    stream.device().make_current();
    cuda::record(state_->native, stream.native());
    return;
  }
  const std::uint64_t record = state_->recorded.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (stream.mode() == Stream::Mode::now) {
    state_->complete(record);
  } else {
    stream.push([state = state_, record] { state->complete(record); }, true);
  }
}

bool Event::done() const {
  if (state_ == nullptr) return true;
  if (state_->cuda) return cuda::is_done(state_->native);
  const std::uint64_t recorded = state_->recorded.load(std::memory_order_acquire);
  return state_->completed.load(std::memory_order_acquire) >= recorded;
}

bool Event::wait_for(std::chrono::nanoseconds limit) const {
  if (done()) return true;
  const std::chrono::nanoseconds longest = std::chrono::hours(24);  // far ones would overflow the clock
  const auto deadline = std::chrono::steady_clock::now() + std::min(limit, longest);
  if (state_->cuda) {
    for (Backoff backoff; !done(); backoff.pause()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
    }
    return true;
  }
  const std::uint64_t recorded = state_->recorded.load(std::memory_order_acquire);
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_until(lock, deadline,
                                    [&] { return state_->completed.load(std::memory_order_relaxed) >= recorded; });
}

void Event::on_done(Signal* signal) {
  DSEA_CHECK(state_ != nullptr, "a default event is always done");
  state_->signal = signal;
}

double Event::seconds_between(const Event& begin, const Event& end) {
  DSEA_CHECK(begin.state_ != nullptr && end.state_ != nullptr && begin.state_->timing && end.state_->timing,
             "both events need timing");
  DSEA_CHECK(begin.state_->cuda == end.state_->cuda, "the events have different devices");
  DSEA_CHECK(begin.done() && end.done(), "the time between events is known when both are done");
  if (begin.state_->cuda) return cuda::seconds_between(begin.state_->native, end.state_->native);
  const auto time_of = [](EventState& state) {
    const std::scoped_lock lock(state.mutex);
    return state.time;
  };
  return std::chrono::duration<double>(time_of(*end.state_) - time_of(*begin.state_)).count();
}

}  // namespace dsea
