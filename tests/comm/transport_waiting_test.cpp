// How transports wait, and for whom; linked once with local_harness.cpp and once with process_harness.cpp.
#include <gtest/gtest.h>

#include <thread>

#include "comm/harness.hpp"
#include "dsea/base/threads.hpp"

namespace {

using namespace comm_test;
using dsea::Transport;

/// Sends as much as it can while nobody receives; then everybody receives everything.
void run_ahead(Transport& transport, std::size_t size, std::uint64_t least, std::uint64_t most) {
  if (transport.size() == 1) return;
  constexpr std::uint64_t transfers = 12;
  std::uint64_t sent = 0;
  Bytes out = content(transport.rank(), 0, size);
  start(transport.to_next(), out);
  while (sent < transfers && transport.to_next().wait(std::chrono::milliseconds(200))) {
    ++sent;
    out = content(transport.rank(), sent, size);
    start(transport.to_next(), out);
  }
  EXPECT_GE(sent, least);
  EXPECT_LE(sent, most);
  barrier();
  for (std::uint64_t received = 0; received < transfers;) {
    Bytes in(size);
    start(transport.from_previous(), in);
    while (!transport.from_previous().wait(std::chrono::milliseconds(1))) {
      if (sent < transfers && transport.to_next().wait(std::chrono::milliseconds(1)) && ++sent < transfers) {
        out = content(transport.rank(), sent, size);
        start(transport.to_next(), out);
      }
    }
    ASSERT_TRUE(in == content(previous(transport), received, size)) << "transfer " << received;
    ++received;
  }
  while (sent < transfers) {
    finish(transport.to_next());
    if (++sent < transfers) {
      out = content(transport.rank(), sent, size);
      start(transport.to_next(), out);
    }
  }
}

TEST(TransportWaiting, LargeTransfersWaitForTheReceiver) {
  for (const std::size_t size : {std::size_t{20'000}, std::size_t{200'000}}) {
    on_every_rank([&](Transport& transport) { run_ahead(transport, size, 0, 0); });
  }
}

TEST(TransportWaiting, SmallTransfersRunAFewAhead) {
  on_every_rank([](Transport& transport) { run_ahead(transport, 200, 1, 8); });
}

TEST(TransportWaiting, WaitingCostsNextToNothing) {
  on_every_rank([](Transport& transport) {
    if (transport.size() == 1) return;
    Bytes in(100'000);
    start(transport.from_previous(), in);
    const double before = dsea::thread_cpu_seconds();
    for (int i = 0; i < 10; ++i) {
      EXPECT_FALSE(transport.from_previous().wait(std::chrono::milliseconds(100)));
    }
    EXPECT_LT(dsea::thread_cpu_seconds() - before, 0.05);
    barrier();

    Bytes out = content(transport.rank(), 1, in.size());
    if (transport.rank() == 0) {  // the others send only once they have received
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      start(transport.to_next(), out);
      finish_both(transport.to_next(), transport.from_previous());
    } else {
      finish(transport.from_previous());
      start(transport.to_next(), out);
      finish(transport.to_next());
    }
    EXPECT_TRUE(in == content(previous(transport), 1, in.size()));
  });
}

}  // namespace
