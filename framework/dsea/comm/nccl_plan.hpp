// How a transfer is cut into NCCL's messages: both ends come to the same result from both ends' segments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dsea/comm/segments.hpp"

namespace dsea::detail {

/// One end's segments, as the other end is told of them.
struct NcclCuts {
  std::uint64_t transfer = 0;  ///< counted from 0
  std::uint64_t bytes = 0;     ///< of all segments
  std::uint64_t count = 0;
  std::array<std::uint64_t, SegmentList::most> cuts{};  ///< bytes, with `device_memory` or without

  static constexpr std::uint64_t device_memory = std::uint64_t{1} << 63;

  void assign(std::uint64_t number, const SegmentList& segments);
};

/// A piece that is contiguous at both ends.
struct NcclPiece {
  std::byte* data = nullptr;  ///< at this end
  std::size_t bytes = 0;
  bool on_device = false;     ///< at this end
  std::size_t staged_at = 0;  ///< place in the staging memory of an end that has it on the host
};

/// Goes through a transfer in batches. A batch is what one group of NCCL's calls brings over: pieces that are on the
/// device at both ends, of any length, and others for which the staging memory has room. No allocation.
class NcclPlan {
 public:
  static constexpr std::size_t alignment = 16;  ///< of pieces in the staging memory

  /// `mine` must stay until the last batch is done. Both lists have as many bytes. `staging`: bytes, the same at both
  /// ends, a multiple of `alignment`.
  void begin(std::span<const Segment> mine, const NcclCuts& theirs, std::size_t staging);

  /// Makes the next batch; false when there is none.
  bool next();

  std::span<const NcclPiece> batch() const { return {pieces_.data(), count_}; }
  std::size_t staged() const { return staged_; }  ///< bytes of the staging memory that the batch uses
  bool from_host() const { return from_host_; }   ///< is some of the batch on the host at this end?

 private:
  std::span<const Segment> mine_;
  std::array<std::uint64_t, SegmentList::most> theirs_;
  std::size_t their_count_ = 0;
  std::size_t my_index_ = 0, my_done_ = 0;
  std::size_t their_index_ = 0, their_done_ = 0;
  std::size_t staging_ = 0;
  std::array<NcclPiece, 2 * SegmentList::most> pieces_;
  std::size_t count_ = 0;
  std::size_t staged_ = 0;
  bool from_host_ = false;
};

}  // namespace dsea::detail
