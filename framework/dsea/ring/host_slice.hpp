// One slice's fields in host memory, for threads that look at data a device holds, or make them.
#pragma once

#include <vector>

#include "dsea/device/buffer.hpp"
#include "dsea/device/event.hpp"
#include "dsea/device/stream.hpp"
#include "dsea/ring/final_fields.hpp"
#include "dsea/slice/view.hpp"

namespace dsea {

/// Pinned memory for all fields of one slab a lane, and a stream of its own to copy with. On the host back end no copy
/// is needed to look at a slice: fetch() then gives the slice's own memory. Used by one thread.
class HostSlice {
 public:
  /// `always`: has memory of its own on the host back end as well (for making slices that belong to no slot).
  HostSlice(const Device& device, const SliceLayout& layout, int lanes, bool always = false);

  /// True if the memory is not the slice's own.
  bool copies() const { return copies_; }

  /// The live part of one lane's fields that travel, or of some of them, in host memory. The work that fills them must
  /// be done. Waits for the copy.
  const RawField* fetch(int lane, const RawField* fields, FieldMask wanted = ~FieldMask{0});

  /// Memory to make one lane in; counts of list fields are 0.
  RawField* blank(int lane);
  RawField* own(int lane) { return raw_.data() + static_cast<std::size_t>(lane * layout_.size()); }

  /// Copies bytes between any two memories and waits.
  void copy_bytes(void* to, const void* from, std::size_t bytes);

  /// Copies the live part of one lane to the memory of a slot. Waits for the copy.
  void put(int lane, const RawField* fields);

 private:
  void settle();

  SliceLayout layout_;
  bool copies_ = false;
  Buffer data_;
  Buffer counts_;
  std::vector<RawField> raw_;  // [lane][field]
  Stream stream_;
  Event done_;
};

}  // namespace dsea
