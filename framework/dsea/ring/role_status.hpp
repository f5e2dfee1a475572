// What a thread of the ring is doing right now, for the watchdog and for error messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "dsea/base/text.hpp"

namespace dsea {

/// Written by its thread, read by any. Costs two relaxed stores a change.
class RoleStatus {
 public:
  explicit RoleStatus(const char* role) : role_(role) {}

  /// `doing` is a literal: "receives", "waits for a free slot". `item` is shown as super-cycle and slice; -1: none.
  void set(const char* doing, std::int64_t item = -1) {
    item_.store(item, std::memory_order_relaxed);
    doing_.store(doing, std::memory_order_relaxed);
  }

  const char* role() const { return role_; }

  /// "input thread: receives slice 3 of super-cycle 7".
  std::string text(int slices) const {
    const std::int64_t item = item_.load(std::memory_order_relaxed);
    std::string text = cat(role_, " thread: ", doing_.load(std::memory_order_relaxed));
    if (item >= 0) text += cat(" (slice ", item % slices, " of super-cycle ", item / slices, ")");
    return text;
  }

 private:
  const char* role_;
  std::atomic<const char*> doing_{"has not started"};
  std::atomic<std::int64_t> item_{-1};
};

}  // namespace dsea
