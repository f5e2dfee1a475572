// The probe over every transport.
#include "dsea/comm/link_probe.hpp"

#include <gtest/gtest.h>

#include "comm/harness.hpp"

namespace {

using namespace comm_test;

constexpr std::size_t kib = 1024;

TEST(LinkProbe, MeasuresOnEveryRankAndLeavesThePortsUsable) {
  on_every_rank([](dsea::Transport& transport) {
    const dsea::LinkSpeed speed = probe_link(transport, {.first_bytes = 64 * kib, .most_bytes = 512 * kib});
    if (transport.size() == 1) {
      EXPECT_EQ(speed.transfers, 0U);
      EXPECT_EQ(speed.bytes_per_second, 0);
      return;
    }
    EXPECT_GT(speed.bytes_per_second, 0);
    EXPECT_GE(speed.transfers, 1U);
    EXPECT_TRUE(speed.bytes == 64 * kib || speed.bytes == 128 * kib || speed.bytes == 256 * kib ||
                speed.bytes == 512 * kib)
        << speed.bytes;
    Bytes out = content(transport.rank(), 1, 1000), in(1000);
    start(transport.from_previous(), in);
    start(transport.to_next(), out);
    finish_both(transport.to_next(), transport.from_previous());
    EXPECT_EQ(in, content(previous(transport), 1, 1000));
  });
}

TEST(LinkProbe, EachLinkDecidesForItself) {
  on_every_rank([](dsea::Transport& transport) {
    // Rank 0 finds its first transfer long enough, the others want the longest.
    const bool patient = transport.rank() > 0;
    const dsea::LinkSpeed speed =
        probe_link(transport, {.first_bytes = 64 * kib,
                               .most_bytes = 256 * kib,
                               .long_enough = patient ? std::chrono::hours(1) : std::chrono::hours(0)});
    if (transport.size() == 1) return;
    EXPECT_EQ(speed.bytes, previous(transport) == 0 ? 64 * kib : 256 * kib);
    EXPECT_EQ(speed.transfers, previous(transport) == 0 ? 1U : 4U) << "64, 128 and twice 256 KiB";
  });
}

}  // namespace
