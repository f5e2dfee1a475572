#include "dsea/comm/segments.hpp"

#include <cstring>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {

void SegmentList::assign(std::span<const Segment> segments, std::string_view port) {
  if (segments.size() > most) {
    throw RunError(cat(port, ": a transfer of ", segments.size(), " segments; at most ", most,
                       " are possible: join fields of the layout"));
  }
  count_ = 0;
  bytes_ = 0;
  on_device_ = false;
  for (const Segment& segment : segments) {
    if (segment.bytes == 0) continue;
    if (segment.data == nullptr) throw RunError(cat(port, ": a segment of ", segment.bytes, " bytes at address 0"));
    segments_[count_++] = segment;
    bytes_ += segment.bytes;
    on_device_ = on_device_ || segment.on_device;
  }
}

void copy_stream(std::span<const Segment> to, std::span<const Segment> from, const Transport::Copy& copy) {
  for_each_piece(to, from, [&](const Segment& to_piece, const Segment& from_piece) {
    if (copy && (to_piece.on_device || from_piece.on_device)) {
      copy(to_piece.data, from_piece.data, to_piece.bytes);
    } else {
      std::memcpy(to_piece.data, from_piece.data, to_piece.bytes);
    }
  });
}

}  // namespace dsea
