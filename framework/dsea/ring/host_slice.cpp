#include "dsea/ring/host_slice.hpp"

#include <algorithm>

namespace dsea {

HostSlice::HostSlice(const Device& device, const SliceLayout& layout, int lanes, bool always)
    : layout_(layout), copies_(always || device.is_cuda()), stream_(device, "copy"), done_(device) {
  if (!copies_) return;
  const auto fields = static_cast<std::size_t>(layout.size());
  data_ = Buffer(device, layout.bytes_per_slab() * static_cast<std::size_t>(lanes), Memory::pinned);
  counts_ = Buffer(device, fields * static_cast<std::size_t>(lanes) * sizeof(std::int64_t), Memory::pinned);
  auto* data = data_.as<std::byte>();
  auto* count = counts_.as<std::int64_t>();
  for (int lane = 0; lane < lanes; ++lane) {
    for (const SliceLayout::Entry& entry : layout.entries()) {
      raw_.push_back({data, count, entry.capacity});
      *count++ = entry.fixed ? entry.capacity : 0;
      data += entry.padded_bytes();
    }
  }
}

void HostSlice::settle() {
  done_.record(stream_);
  while (!done_.wait_for(std::chrono::milliseconds(100))) {
  }
  if (stream_.error()) std::rethrow_exception(stream_.error());
}

const RawField* HostSlice::fetch(int lane, const RawField* fields, FieldMask wanted) {
  if (!copies_) return fields;
  RawField* mine = own(lane);
  wanted &= travelling_fields(layout_);
  // Who fills the others may just be giving them their memory: only what is wanted is looked at.
  const auto is_there = [&](int f) { return (wanted & bit_of(f)) != 0 && fields[f].data != nullptr; };
  for (int f = 0; f < layout_.size(); ++f) {
    if (is_there(f)) copy(stream_, mine[f].count, fields[f].count, sizeof(std::int64_t));
  }
  settle();
  for (int f = 0; f < layout_.size(); ++f) {
    if (!is_there(f)) continue;
    const std::int64_t live = std::clamp<std::int64_t>(*mine[f].count, 0, layout_[f].capacity);
    copy(stream_, mine[f].data, fields[f].data, layout_[f].element_bytes * static_cast<std::size_t>(live));
  }
  settle();
  return mine;
}

RawField* HostSlice::blank(int lane) {
  for (int f = 0; f < layout_.size(); ++f) *own(lane)[f].count = layout_[f].fixed ? layout_[f].capacity : 0;
  return own(lane);
}

void HostSlice::copy_bytes(void* to, const void* from, std::size_t bytes) {
  copy(stream_, to, from, bytes);
  settle();
}

void HostSlice::put(int lane, const RawField* fields) {
  const RawField* mine = own(lane);
  for (int f = 0; f < layout_.size(); ++f) {
    if (fields[f].data == nullptr || !layout_[f].travels) continue;
    copy(stream_, fields[f].data, mine[f].data, layout_[f].element_bytes * static_cast<std::size_t>(*mine[f].count));
    copy(stream_, fields[f].count, mine[f].count, sizeof(std::int64_t));
  }
  settle();
}

}  // namespace dsea
