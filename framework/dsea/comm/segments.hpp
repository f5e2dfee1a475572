// Lists of segments as the ports keep them, seen as one stream of bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "dsea/comm/transport.hpp"

namespace dsea {

/// A port's copy of what start() was given, without the empty segments. No allocation. Not thread safe.
class SegmentList {
 public:
  static constexpr std::size_t most = 64;  ///< segments of one transfer

  /// Throws RunError if there are more than `most` or one has bytes but no memory; `port` names the port in the text.
  void assign(std::span<const Segment> segments, std::string_view port);

  std::span<const Segment> view() const { return {segments_.data(), count_}; }
  std::size_t bytes() const { return bytes_; }
  bool on_device() const { return on_device_; }  ///< any of them

 private:
  std::array<Segment, most> segments_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool on_device_ = false;
};

/// Calls use(to, from, bytes) for the longest pieces that are contiguous in both lists, in the order of the stream.
/// Ends with the shorter of the two.
template <class Use>
void for_each_piece(std::span<const Segment> to, std::span<const Segment> from, Use use) {
  std::size_t to_done = 0;  // bytes of the front segment that are behind us
  std::size_t from_done = 0;
  while (!to.empty() && !from.empty()) {
    const std::size_t bytes = std::min(to.front().bytes - to_done, from.front().bytes - from_done);
    Segment to_piece = to.front();
    Segment from_piece = from.front();
    to_piece.data = static_cast<std::byte*>(to_piece.data) + to_done;
    from_piece.data = static_cast<std::byte*>(from_piece.data) + from_done;
    to_piece.bytes = from_piece.bytes = bytes;
    if (bytes > 0) use(to_piece, from_piece);
    to_done += bytes;
    from_done += bytes;
    if (to_done == to.front().bytes) to = to.subspan(1), to_done = 0;
    if (from_done == from.front().bytes) from = from.subspan(1), from_done = 0;
  }
}

/// Copies the stream `from` into the stream `to`. `copy` serves pieces that touch device memory, if it is set; the rest
/// is copied by memcpy.
void copy_stream(std::span<const Segment> to, std::span<const Segment> from, const Transport::Copy& copy);

/// Calls use(piece) for the pieces of memory that hold bytes [begin, begin + bytes) of the stream.
template <class Use>
void for_each_piece_of_range(std::span<const Segment> stream, std::size_t begin, std::size_t bytes, Use use) {
  for (Segment piece : stream) {
    if (bytes == 0) return;
    const std::size_t skip = std::min(begin, piece.bytes);
    begin -= skip;
    piece.data = static_cast<std::byte*>(piece.data) + skip;
    piece.bytes = std::min(piece.bytes - skip, bytes);
    bytes -= piece.bytes;
    if (piece.bytes > 0) use(piece);
  }
}

}  // namespace dsea
