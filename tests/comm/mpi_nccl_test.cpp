// What transport nccl has from MPI; the transport itself needs GPUs, or their stand-in (nccl_transport_test.cpp).
#include <gtest/gtest.h>

#include "comm/harness.hpp"
#include "dsea/base/error.hpp"
#include "dsea/comm/nccl_transport.hpp"

namespace {

using namespace comm_test;
using namespace std::chrono_literals;

TEST(MpiNccl, EveryLinkHasControlInBothDirections) {
  dsea::MpiSession session;
  const dsea::NcclWorld world = dsea::make_mpi_nccl_world(session, 60s);
  const int me = session.rank();
  const auto all = world.exchange(content(me, 7, 100));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(session.size()));
  for (int rank = 0; rank < session.size(); ++rank) {
    EXPECT_TRUE(all[static_cast<std::size_t>(rank)] == content(rank, 7, 100)) << rank;
  }
  if (session.size() == 1) return;
  const int next = (me + 1) % session.size();
  const int previous = (me + session.size() - 1) % session.size();
  for (std::uint64_t round = 0; round < 20; round += 2) {  // even numbers travel forward, odd ones back
    Bytes forward = content(me, round, 2600), back = content(me, round + 1, 600);
    Bytes from_previous(2600), from_next(600);
    start(*world.previous.from, from_previous);
    start(*world.next.from, from_next);
    start(*world.next.to, forward);
    start(*world.previous.to, back);
    finish_both(*world.next.to, *world.previous.from);
    finish_both(*world.previous.to, *world.next.from);
    EXPECT_TRUE(from_previous == content(previous, round, 2600)) << round;
    EXPECT_TRUE(from_next == content(next, round + 1, 600)) << round;
  }
}

TEST(MpiNccl, TheHostIsRefusedBeforeAnythingElse) {
  dsea::MpiSession session;
  const dsea::Device host = dsea::Device::open({.backend = "host"});
  EXPECT_THROW(dsea::check_nccl(host), dsea::UsageError);
  EXPECT_THROW(dsea::make_nccl_transport(session, host), dsea::UsageError);
}

}  // namespace
