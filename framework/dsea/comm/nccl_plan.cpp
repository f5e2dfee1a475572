#include "dsea/comm/nccl_plan.hpp"

#include <algorithm>

namespace dsea::detail {

void NcclCuts::assign(std::uint64_t number, const SegmentList& segments) {
  transfer = number;
  bytes = segments.bytes();
  count = 0;
  for (const Segment& s : segments.view()) cuts[count++] = s.bytes | (s.on_device ? device_memory : 0);
}

void NcclPlan::begin(std::span<const Segment> mine, const NcclCuts& theirs, std::size_t staging) {
  mine_ = mine;
  theirs_ = theirs.cuts;
  their_count_ = std::min<std::size_t>(theirs.count, theirs_.size());
  my_index_ = my_done_ = their_index_ = their_done_ = 0;
  staging_ = staging;
}

bool NcclPlan::next() {
  count_ = 0;
  staged_ = 0;
  from_host_ = false;
  while (my_index_ < mine_.size() && their_index_ < their_count_) {
    const Segment& mine = mine_[my_index_];
    const std::size_t their_bytes = theirs_[their_index_] & ~NcclCuts::device_memory;
    const bool staged = !mine.on_device || (theirs_[their_index_] & NcclCuts::device_memory) == 0;
    std::size_t bytes = std::min(mine.bytes - my_done_, their_bytes - their_done_);
    if (staged) bytes = std::min(bytes, staging_ - staged_);
    if (bytes == 0) break;
    pieces_[count_++] = {static_cast<std::byte*>(mine.data) + my_done_, bytes, mine.on_device, staged_};
    if (staged) staged_ += (bytes + alignment - 1) / alignment * alignment;
    from_host_ = from_host_ || !mine.on_device;
    my_done_ += bytes;
    their_done_ += bytes;
    if (my_done_ == mine.bytes) ++my_index_, my_done_ = 0;
    if (their_done_ == their_bytes) ++their_index_, their_done_ = 0;
  }
  return count_ > 0;
}

}  // namespace dsea::detail
