// A rank that passes messages on between two rails. For ucx_*.cpp only.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "dsea/comm/ucx_loop.hpp"

namespace dsea::detail {

/// Passes on whatever comes from either side, with its tag, by a thread and buffers of its own. If one side breaks it
/// gives both up, so that the ports at the ends notice.
class UcxRelay {
 public:
  UcxRelay(std::unique_ptr<UcxRail> to_sender, std::unique_ptr<UcxRail> to_receiver, std::size_t longest_chunk);
  ~UcxRelay();
  /// Nothing is passed on any more.
  void stop_thread() { loop_.stop(); }

 private:
  static constexpr std::size_t slots = 8;
  struct Slot {
    enum class State { empty, arriving, leaving } state = State::empty;
    UcxMessage message;
    std::uint64_t tag = 0;
    std::vector<std::byte> memory;
  };
  using Slots = std::array<Slot, slots>;

  UcxLoop::Idle look();
  bool pass(UcxRail& from, UcxRail& to, Slots& slots_of_direction);
  void give_up();

  UcxRails rails_;  // to the sender, to the receiver
  Slots forward_, backward_;
  UcxLoop loop_;
};

}  // namespace dsea::detail
