// The slots of one process's slot rings: a header and the buffers of one slice's fields.
#pragma once

#include <array>
#include <vector>

#include "dsea/device/event.hpp"
#include "dsea/ring/field_pools.hpp"
#include "dsea/slice/header.hpp"

namespace dsea {

/// One place of a slot ring. Which state it is in (free, filling, ready, draining) follows from the counters of the
/// StageMachine; the ready event says when work that was put on a stream has filled it.
struct Slot {
  SliceHeader header;
  Event ready;
  std::array<int, max_fields> buffer{};  ///< in the pools; -1: none
  std::array<std::array<RawField, max_fields>, max_lanes> raw{};

  bool has(int field) const { return buffer[static_cast<std::size_t>(field)] >= 0; }
};

/// All slots of a process. Not thread safe: the owner locks take..release; the memory of a taken slot belongs to
/// whoever fills or reads it by the rules of the state machine.
class Slots {
 public:
  /// `slots`: a ring; `buffers`: a field, at most as many as there are slots (RingPlan::buffers).
  Slots(const Device& device, const SliceLayout& layout, int lanes, const std::vector<int>& slots,
        const std::vector<int>& buffers);

  Slot& at(int ring, std::int64_t item) {
    auto& slots = rings_[static_cast<std::size_t>(ring)];
    return slots[static_cast<std::size_t>(item) % slots.size()];
  }

  /// Gives the slot a fresh buffer for the field.
  void take(Slot& slot, int field);
  /// Lets the slot share the buffer of another slot: carried, never copied.
  void carry(Slot& to, const Slot& from, int field);
  /// Lets go of all buffers.
  void release(Slot& slot);
  /// Lets go of the side fields, which do not leave the process.
  void release_side(Slot& slot);

  FieldPools& pools() { return pools_; }
  const SliceLayout& layout() const { return pools_.layout(); }
  int lanes() const { return pools_.lanes(); }

 private:
  void set(Slot& slot, int field, int buffer);
  void let_go(Slot& slot, int field);
  FieldPools pools_;
  std::vector<std::vector<Slot>> rings_;
};

}  // namespace dsea
