#include "dsea/comm/segments.hpp"

#include <gtest/gtest.h>

#include <random>

#include "comm/harness.hpp"
#include "dsea/base/error.hpp"

namespace {

using namespace comm_test;
using dsea::Segment;

TEST(Segments, EmptyOnesAreDropped) {
  Bytes data(10);
  const Segment segments[] = {
      {nullptr, 0, true}, {data.data(), 4, false}, {data.data(), 0, true}, {data.data() + 4, 6, false}};
  dsea::SegmentList list;
  list.assign(segments, "a port");
  EXPECT_EQ(list.view().size(), 2u);
  EXPECT_EQ(list.bytes(), 10u);
  EXPECT_FALSE(list.on_device());
  list.assign({}, "a port");
  EXPECT_EQ(list.bytes(), 0u);
  EXPECT_TRUE(list.view().empty());
}

TEST(Segments, CopiesBetweenDifferentCuts) {
  std::mt19937 random(3);
  for (std::size_t size = 0; size < 200; ++size) {
    Bytes from = content(0, size, size);
    Bytes to(size);
    const auto from_cut = cut(from, 1 + random() % 10, random);
    dsea::copy_stream(cut(to, 1 + random() % 10, random), from_cut, {});
    EXPECT_EQ(to, from);
  }
}

TEST(Segments, RangesOfTheStream) {
  std::mt19937 random(4);
  Bytes data = content(0, 0, 100);
  for (int round = 0; round < 300; ++round) {
    const auto segments = cut(data, 1 + random() % 10, random);
    const std::size_t begin = random() % (data.size() + 1);
    const std::size_t bytes = random() % (data.size() - begin + 1);
    Bytes seen;
    dsea::for_each_piece_of_range(segments, begin, bytes, [&](const Segment& piece) {
      EXPECT_GT(piece.bytes, 0u);
      const auto* first = static_cast<const std::byte*>(piece.data);
      seen.insert(seen.end(), first, first + piece.bytes);
    });
    const auto first = data.begin() + static_cast<std::ptrdiff_t>(begin);
    EXPECT_EQ(seen, Bytes(first, first + static_cast<std::ptrdiff_t>(bytes)));
  }
}

}  // namespace
