#include "dsea/comm/ucx_relay.hpp"

#include <algorithm>
#include <utility>

namespace dsea::detail {

UcxRelay::UcxRelay(std::unique_ptr<UcxRail> to_sender, std::unique_ptr<UcxRail> to_receiver,
                   std::size_t longest_chunk) {
  rails_.push_back(std::move(to_sender));
  rails_.push_back(std::move(to_receiver));
  for (Slot& slot : forward_) slot.memory.resize(std::max(longest_chunk, ucx_small));
  for (Slot& slot : backward_) slot.memory.resize(ucx_small);  // only answers
  for (Slot& slot : forward_) {
    for (const auto& rail : rails_) rail->use_memory(slot.memory.data(), slot.memory.size(), false);
  }
  loop_.start(rails_, [this] { return look(); });
}

UcxRelay::~UcxRelay() {
  loop_.stop();
  give_up();
}

UcxLoop::Idle UcxRelay::look() {
  UcxLoop::Idle idle;
  if (!rails_[0]) return idle;
  try {
    for (const auto& rail : rails_) idle.moved = rail->progress() || idle.moved;
    idle.moved = pass(*rails_[0], *rails_[1], forward_) || idle.moved;
    idle.moved = pass(*rails_[1], *rails_[0], backward_) || idle.moved;
    if (idle.moved) return idle;
    for (const auto& rail : rails_) rail->arm();
  } catch (const UcxRailError&) {  // the ports at the ends see that this rail is gone, and say so if they need it
    for (const auto& rail : rails_) rail->give_up();
    give_up();
  }
  return idle;
}

bool UcxRelay::pass(UcxRail& from, UcxRail& to, Slots& slots_of_direction) {
  bool moved = false;
  for (Slot& slot : slots_of_direction) {
    if (slot.state == Slot::State::leaving && to.test(slot.message)) slot.state = Slot::State::empty;
    if (slot.state == Slot::State::empty) {
      const auto incoming = from.take(ucx_any_message);
      if (!incoming) continue;
      if (incoming->bytes > slot.memory.size()) throw UcxRailError(from.name() + ": a message that is too long");
      slot.tag = incoming->tag;
      slot.message.clear();
      slot.message.add(slot.memory.data(), incoming->bytes);
      from.receive(slot.message, *incoming);
      slot.state = Slot::State::arriving;
      moved = true;
    }
    if (slot.state == Slot::State::arriving && from.test(slot.message)) {
      to.send(slot.message, slot.tag, &slots_of_direction == &forward_);
      slot.state = Slot::State::leaving;
      moved = true;
    }
  }
  return moved;
}

void UcxRelay::give_up() {
  for (Slot& slot : forward_) {
    const std::size_t on = slot.state == Slot::State::arriving ? 0 : 1;
    if (rails_[on]) rails_[on]->abandon(slot.message);
  }
  for (Slot& slot : backward_) {
    const std::size_t on = slot.state == Slot::State::arriving ? 1 : 0;
    if (rails_[on]) rails_[on]->abandon(slot.message);
  }
  for (auto& rail : rails_) rail.reset();
}

}  // namespace dsea::detail
