#include "dsea/ring/slots.hpp"

#include "dsea/base/check.hpp"

namespace dsea {

Slots::Slots(const Device& device, const SliceLayout& layout, int lanes, const std::vector<int>& slots,
             const std::vector<int>& buffers)
    : pools_(device, layout, lanes, buffers) {
  rings_.resize(slots.size());
  for (std::size_t r = 0; r < slots.size(); ++r) {
    rings_[r].resize(static_cast<std::size_t>(slots[r]));
    for (Slot& slot : rings_[r]) {
      slot.buffer.fill(-1);
      slot.ready = Event(device);
      slot.header.layout_hash = layout.hash();
    }
  }
}

void Slots::set(Slot& slot, int field, int buffer) {
  const auto f = static_cast<std::size_t>(field);
  DSEA_CHECK_EQ(slot.buffer[f], -1, "field '", layout()[field].name, "' of a slot taken twice");
  slot.buffer[f] = buffer;
  for (int lane = 0; lane < lanes(); ++lane)
    slot.raw[static_cast<std::size_t>(lane)][f] = pools_.raw(field, buffer, lane);
}

void Slots::take(Slot& slot, int field) { set(slot, field, pools_.take(field)); }

void Slots::carry(Slot& to, const Slot& from, int field) {
  const int buffer = from.buffer[static_cast<std::size_t>(field)];
  pools_.share(field, buffer);
  set(to, field, buffer);
}

void Slots::let_go(Slot& slot, int field) {
  const auto f = static_cast<std::size_t>(field);
  if (slot.buffer[f] < 0) return;
  pools_.release(field, slot.buffer[f]);
  slot.buffer[f] = -1;
  for (auto& lane : slot.raw) lane[f] = {};
}

void Slots::release(Slot& slot) {
  for (int f = 0; f < layout().size(); ++f) let_go(slot, f);
}

void Slots::release_side(Slot& slot) {
  for (int f = 0; f < layout().size(); ++f) {
    if (!layout()[f].travels) let_go(slot, f);
  }
}

}  // namespace dsea
