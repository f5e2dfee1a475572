#include "dsea/comm/ucx_port.hpp"

#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::detail {

UcxPort::UcxPort(UcxRails rails, UcxPortOptions options)
    : rails_(std::move(rails)), options_(std::move(options)), lost_(rails_.size()), rail_bytes_(rails_.size()) {}

UcxPort::~UcxPort() = default;

void UcxPort::start_thread() {
  loop_.start(rails_, [this] { return look(); });
}

std::vector<RailTraffic> UcxPort::rails() const {
  const std::scoped_lock lock(mutex_);
  std::vector<RailTraffic> all;
  for (std::size_t r = 0; r < rails_.size(); ++r) all.push_back({options_.rail_names[r], rail_bytes_[r], lost_[r]});
  return all;
}

void UcxPort::use_memory(void* data, std::size_t bytes, bool on_device) {
  const std::scoped_lock lock(mutex_);
  for (const auto& rail : rails_) {
    try {
      if (rail) rail->use_memory(data, bytes, on_device);
    } catch (const UcxRailError& e) {
      if (options_.warn) options_.warn(cat(e.what(), ": it is registered when it is sent first"));
      return;
    }
  }
}

void UcxPort::start_transfer(std::span<const Segment> segments) {
  {
    const std::scoped_lock lock(mutex_);
    if (!error_.empty()) throw RunError(error_ + "; the connection is broken");
    if (busy_) throw RunError(options_.name + ": a transfer is started before the one before it was complete");
    segments_.assign(segments, options_.name);
    if (segments_.on_device() && !options_.device_memory) {
      throw RunError(options_.name + ": device memory must be staged through the host");
    }
    chunks_ = UcxChunks(segments_.bytes(), rails_.size(), options_.longest_chunk, options_.within_node);
    if (chunks_.count() > ucx_most_chunks) {
      throw RunError(cat(options_.name, ": a transfer of ", segments_.bytes(), " bytes in messages of ", chunks_.chunk,
                         ": at most ", ucx_most_chunks, " messages are possible; make them longer"));
    }
    count_start();
    complete_ = false;
    busy_ = true;
    begin();
  }
  loop_.wake();
}

bool UcxPort::wait_for(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!busy_) return true;
  changed_.wait_until(lock, deadline_after(timeout), [this] { return complete_ || !error_.empty(); });
  if (!complete_ && !error_.empty()) throw RunError(error_);
  if (!complete_) return false;
  busy_ = false;
  ++transfers_;
  count_transfer(segments_.bytes());
  return true;
}

void UcxPort::complete() {
  complete_ = true;
  changed_.notify_all();
}

std::size_t UcxPort::live_rails() const {
  std::size_t n = 0;
  for (const auto& rail : rails_) n += rail != nullptr;
  return n;
}

void UcxPort::close_rail(std::size_t rail) {
  rails_[rail]->give_up();
  rail_is_lost(rail);
  rails_[rail].reset();
}

void UcxPort::lose(std::size_t rail, const std::string& why) {
  if (!rails_[rail]) return;
  close_rail(rail);
  lost_[rail] = why;
  if (live_rails() == 0) throw RunError(cat(options_.name, ": no rail is left: ", joined(lost_, "; ")));
  warnings_.push_back(cat(options_.name, ": ", options_.rail_names[rail], " is lost: ", why, "; ", live_rails(), " of ",
                          rails_.size(), " rails go on, so slices travel slower"));
  warn_at_ = Clock::now() + std::chrono::milliseconds(1500);
}

void UcxPort::say_warnings() {
  if (warnings_.empty() || !busy_ || Clock::now() < warn_at_ || (options_.failing && options_.failing())) return;
  for (const std::string& warning : warnings_) {
    if (options_.warn) options_.warn(warning);
  }
  warnings_.clear();
}

void UcxPort::chunk_pieces(UcxMessage& message, std::size_t chunk) const {
  message.clear();
  for_each_piece_of_range(segments_.view(), chunks_.begin(chunk), chunks_.length(chunk),
                          [&](const Segment& piece) { message.add(piece.data, piece.bytes); });
}

bool UcxPort::send_small(std::size_t rail, UcxKind kind, std::uint64_t transfer, std::uint64_t number,
                         std::span<const std::byte> bytes) {
  return rails_[rail]->send_small(ucx_tag(kind, transfer, number), bytes);
}

template <class Step>
bool UcxPort::each_rail(Step step) {
  bool moved = false;
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (!rails_[r]) continue;
    try {
      moved = step(r) || moved;
    } catch (const UcxRailError& e) {
      lose(r, e.what());
      moved = true;
    }
  }
  return moved;
}

/// Works off what has happened. If nothing has, the next event will be seen by poll.
UcxLoop::Idle UcxPort::look() {
  const std::scoped_lock lock(mutex_);
  UcxLoop::Idle idle;
  idle.pause = std::chrono::milliseconds(busy_ && !complete_ ? 250 : 1000);
  if (!error_.empty()) return idle;
  try {
    idle.moved = each_rail([this](std::size_t r) {
      const bool any = rails_[r]->progress();
      return look_at(r) || any;
    });
    say_warnings();
    idle.moved = advance() || idle.moved;
    if (!idle.moved) each_rail([this](std::size_t r) { return rails_[r]->arm(); });
  } catch (const std::exception& e) {
    error_ = e.what();
    for (std::size_t r = 0; r < rails_.size(); ++r) {  // nothing is to wake this thread up any more
      if (rails_[r]) close_rail(r);
    }
    changed_.notify_all();
  }
  return idle;
}

}  // namespace dsea::detail
