#include "dsea/comm/local_channel.hpp"

#include <chrono>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {

LocalChannel::LocalChannel(int from, int to) : from_(from), to_(to) {
  for (Slot& slot : slots_) slot.memory.resize(slot_bytes);
}

void LocalChannel::send(const SegmentList& segments) {
  const std::scoped_lock lock(mutex_);
  fail_if_broken();
  if (segments.bytes() <= slot_bytes && !segments.on_device() && used_ < slots) {
    Slot& slot = slots_[(first_ + used_) % slots];
    const Segment into{slot.memory.data(), segments.bytes(), false};
    copy_stream({&into, 1}, segments.view(), {});
    slot.bytes = segments.bytes();
    ++used_;
  } else {
    offer_ = &segments;
  }
  changed_.notify_all();
}

bool LocalChannel::wait_sent(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] {
    return offer_ == nullptr || phase_ == Phase::stopped || !broken_.empty() || receiver_gone_;
  });
  if (offer_ == nullptr) return true;
  if (phase_ != Phase::running) return false;
  fail_if_broken();
  if (receiver_gone_) {
    throw RunError(cat("local: rank ", to_, " ended without receiving ", offer_->bytes(), " bytes from rank ", from_));
  }
  return false;
}

bool LocalChannel::receive(const SegmentList& into, const Transport::Copy& copy, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const bool awake = changed_.wait_until(lock, deadline, [&] {
    if (phase_ != Phase::running) return phase_ == Phase::stopped;
    return used_ > 0 || offer_ != nullptr || !broken_.empty() || sender_gone_;
  });
  if (!awake || phase_ != Phase::running) return false;
  fail_if_broken();
  if (used_ == 0 && offer_ == nullptr) {
    throw RunError(cat("local: rank ", from_, " ended without sending the ", into.bytes(), " bytes that rank ", to_,
                       " waits for"));
  }

  const bool from_slot = used_ > 0;
  const Segment slot{slots_[first_].memory.data(), slots_[first_].bytes, false};
  const std::span<const Segment> source = from_slot ? std::span<const Segment>{&slot, 1} : offer_->view();
  const std::size_t bytes = from_slot ? slot.bytes : offer_->bytes();
  if (bytes != into.bytes()) {
    break_off(cat("local: transfer ", received_ + 1, " from rank ", from_, " to rank ", to_, ": ", bytes,
                  " bytes were sent and ", into.bytes(), " expected; the ranks disagree about what they exchange"));
  }

  copying_ = true;
  lock.unlock();
  std::string trouble;
  try {
    copy_stream(into.view(), source, copy);
  } catch (const std::exception& error) {
    trouble = cat(": ", error.what());
  } catch (...) {
    trouble = ": unknown error";
  }
  lock.lock();
  copying_ = false;
  if (!trouble.empty()) break_off(cat("local: copying from rank ", from_, " to rank ", to_, " failed", trouble));
  ++received_;
  if (from_slot) {
    first_ = (first_ + 1) % slots;
    --used_;
  } else {
    offer_ = nullptr;
  }
  changed_.notify_all();
  return true;
}

void LocalChannel::close_sender() noexcept {
  std::unique_lock lock(mutex_);
  wait_for_copy(lock);
  offer_ = nullptr;
  sender_gone_ = true;
  changed_.notify_all();
}

void LocalChannel::close_receiver() noexcept {
  const std::scoped_lock lock(mutex_);
  receiver_gone_ = true;
  changed_.notify_all();
}

void LocalChannel::stop() noexcept {
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::running) phase_ = Phase::stopping;
  wait_for_copy(lock);
}

void LocalChannel::release() noexcept {
  const std::scoped_lock lock(mutex_);
  phase_ = Phase::stopped;
  changed_.notify_all();
}

void LocalChannel::wait_for_copy(std::unique_lock<std::mutex>& lock) noexcept {
  changed_.wait_for(lock, std::chrono::seconds(10), [&] { return !copying_; });
}

void LocalChannel::fail_if_broken() const {
  if (!broken_.empty()) throw RunError(broken_);
}

void LocalChannel::break_off(const std::string& why) {
  broken_ = why;
  changed_.notify_all();
  throw RunError(why);
}

}  // namespace dsea
