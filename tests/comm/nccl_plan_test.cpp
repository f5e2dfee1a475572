// Both ends of a link make the same messages from both ends' segments.
#include "dsea/comm/nccl_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using dsea::Segment;
using dsea::SegmentList;
using dsea::detail::NcclCuts;
using dsea::detail::NcclPiece;
using dsea::detail::NcclPlan;

struct End {
  std::vector<Segment> segments;
  SegmentList list;
  NcclCuts cuts;
};

/// Segments that follow each other in `memory`.
End make_end(std::vector<std::byte>& memory, std::size_t pieces, std::mt19937& random) {
  End end;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t left = memory.size() - at;
    const std::size_t bytes = i + 1 == pieces ? left : random() % (left + 1);
    end.segments.push_back({memory.data() + at, bytes, random() % 2 == 0});
    at += bytes;
  }
  end.list.assign(end.segments, "test");
  end.cuts.assign(5, end.list);
  return end;
}

bool on_device(const End& end, const std::byte* data) {
  for (const Segment& s : end.segments) {
    const auto* begin = static_cast<const std::byte*>(s.data);
    if (data >= begin && data < begin + s.bytes) return s.on_device;
  }
  return false;
}

TEST(NcclPlan, BothEndsAgree) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::size_t bytes = 1 + random() % 2000;
    std::vector<std::byte> there(bytes), here(bytes);
    const End sender = make_end(there, 1 + random() % 64, random), receiver = make_end(here, 1 + random() % 64, random);
    const std::size_t staging = 64 * (1 + random() % 8);
    NcclPlan sending, receiving;
    sending.begin(sender.list.view(), receiver.cuts, staging);
    receiving.begin(receiver.list.view(), sender.cuts, staging);
    std::size_t done = 0;
    while (sending.next()) {
      ASSERT_TRUE(receiving.next());
      ASSERT_EQ(sending.batch().size(), receiving.batch().size());
      EXPECT_EQ(sending.staged(), receiving.staged());
      EXPECT_LE(sending.staged(), staging);
      std::size_t used = 0;
      for (std::size_t i = 0; i < sending.batch().size(); ++i) {
        const NcclPiece& from = sending.batch()[i];
        const NcclPiece& to = receiving.batch()[i];
        ASSERT_EQ(from.bytes, to.bytes);
        ASSERT_EQ(from.data - there.data(), static_cast<std::ptrdiff_t>(done));
        ASSERT_EQ(to.data - here.data(), static_cast<std::ptrdiff_t>(done));
        EXPECT_EQ(from.on_device, on_device(sender, from.data));
        EXPECT_EQ(to.on_device, on_device(receiver, to.data));
        if (!from.on_device || !to.on_device) {
          EXPECT_EQ(from.staged_at, to.staged_at);
          EXPECT_GE(from.staged_at, used);
          used = from.staged_at + from.bytes;
          EXPECT_LE(used, staging);
        }
        done += from.bytes;
      }
    }
    EXPECT_FALSE(receiving.next());
    EXPECT_EQ(done, bytes);
  }
}

}  // namespace
