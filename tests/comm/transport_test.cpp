// What every transport must do; linked once with local_harness.cpp and once with process_harness.cpp.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>

#include "comm/harness.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/traffic.hpp"

namespace {

using namespace comm_test;
using dsea::Segment;
using dsea::Transport;

/// The same on both ends of a link.
std::size_t random_size(std::mt19937& random, std::size_t largest) {
  switch (random() % 4) {
    case 0:
      return random() % 3;
    case 1:
      return 4000 + random() % 200;
    case 2:
      return random() % 5000;
    default:
      return random() % (largest + 1);
  }
}

/// A number of transfers round the ring by one thread a rank, cut differently at the two ends.
void ring_of_random_transfers(Transport& transport, int transfers, std::size_t largest) {
  if (transport.size() == 1) return;
  const int me = transport.rank();
  const int from = previous(transport);
  std::mt19937 sizes(7);  // the same on all ranks
  std::mt19937 cuts(static_cast<unsigned>(me) + 100);
  const dsea::Traffic sent_before = dsea::traffic_of(transport.to_next());  // at the start, by some transports
  const dsea::Traffic received_before = dsea::traffic_of(transport.from_previous());
  std::uint64_t bytes = 0;
  for (int i = 0; i < transfers; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const std::size_t size = random_size(sizes, largest);
    bytes += size;
    Bytes mine = content(me, index, size);
    Bytes got(size);
    const auto segments_out = cut(mine, 1 + cuts() % 64, cuts);
    const auto segments_in = cut(got, 1 + cuts() % 64, cuts);
    transport.from_previous().start(segments_in);
    transport.to_next().start(segments_out);
    finish_both(transport.to_next(), transport.from_previous());
    ASSERT_EQ(got, content(from, index, size)) << "transfer " << i;
  }
  const dsea::Traffic sent = dsea::traffic_of(transport.to_next());
  const dsea::Traffic received = dsea::traffic_of(transport.from_previous());
  EXPECT_EQ(sent.transfers - sent_before.transfers, static_cast<std::uint64_t>(transfers));
  EXPECT_EQ(received.transfers - received_before.transfers, static_cast<std::uint64_t>(transfers));
  EXPECT_EQ(sent.bytes - sent_before.bytes, bytes);
  EXPECT_EQ(received.bytes - received_before.bytes, bytes);
}

TEST(Transport, TransfersArriveWholeAndInOrder) {
  on_every_rank([](Transport& transport) { ring_of_random_transfers(transport, 60, 300'000); });
}

TEST(Transport, LongSegmentsAreCutIntoMessages) {
  on_every_rank([](Transport& transport) { ring_of_random_transfers(transport, 40, 60'000); }, {.chunk_bytes = 1000});
  on_every_rank([](Transport& transport) { ring_of_random_transfers(transport, 3, 5000); }, {.chunk_bytes = 1});
}

TEST(Transport, SaysWhatItIs) {
  on_every_rank([](Transport& transport) {
    EXPECT_EQ(transport.describe().rfind(transport.name() + ": ", 0), 0u) << transport.describe();
    EXPECT_LT(transport.rank(), transport.size());
    EXPECT_FALSE(transport.peer_failed());
    EXPECT_EQ(transport.takes_device_memory(), moves_device_memory());
  });
}

TEST(Transport, PortsThatDoNotExistAreRefused) {
  on_every_rank([](Transport& transport) {
    if (transport.size() == 1) {
      EXPECT_THROW(transport.to_next(), dsea::RunError);
      EXPECT_THROW(transport.from_previous(), dsea::RunError);
    }
    if (transport.rank() == 0) {
      EXPECT_THROW(transport.load_to_next(), dsea::RunError);
    }
    if (transport.rank() == 1 || transport.size() == 1) {
      EXPECT_THROW(transport.load_from_previous(), dsea::RunError);
    }
  });
}

TEST(Transport, InputAndOutputThreadsRunOnTheirOwn) {
  on_every_rank([](Transport& transport) {
    if (transport.size() == 1) return;
    constexpr std::uint64_t transfers = 40;
    const auto size = [](std::uint64_t i) { return static_cast<std::size_t>(i % 5 * 30'000 + i); };
    std::jthread output([&] {
      for (std::uint64_t i = 0; i < transfers; ++i) {
        Bytes data = content(transport.rank(), i, size(i));
        start(transport.to_next(), data);
        finish(transport.to_next());
      }
    });
    for (std::uint64_t i = 0; i < transfers; ++i) {
      Bytes data(size(i));
      start(transport.from_previous(), data);
      finish(transport.from_previous());
      ASSERT_TRUE(data == content(previous(transport), i, size(i))) << "transfer " << i;
    }
  });
}

TEST(Transport, ManySegmentsAreRefused) {
  on_every_rank([](Transport& transport) {
    if (transport.size() == 1) return;
    Bytes data(65);
    std::vector<Segment> segments;
    for (std::byte& value : data) segments.push_back({&value, 1, false});
    EXPECT_THROW(transport.to_next().start(segments), dsea::RunError);
    EXPECT_THROW(transport.from_previous().start(segments), dsea::RunError);
    segments.pop_back();
    transport.to_next().start(segments);
    transport.from_previous().start(segments);
    finish_both(transport.to_next(), transport.from_previous());
  });
}

TEST(Transport, MisuseIsRefused) {
  on_every_rank([](Transport& transport) {
    if (transport.size() == 1) return;
    Bytes out = content(0, 0, 100'000);
    Bytes in(out.size());
    const Segment on_device{out.data(), out.size(), true};
    if (!moves_device_memory()) {
      EXPECT_THROW(transport.to_next().start({&on_device, 1}), dsea::RunError);
      EXPECT_THROW(transport.from_previous().start({&on_device, 1}), dsea::RunError);
    }
    const Segment nowhere{nullptr, 1, false};
    EXPECT_THROW(transport.to_next().start({&nowhere, 1}), dsea::RunError);
    EXPECT_TRUE(transport.to_next().wait(std::chrono::seconds(0))) << "nothing was started";
    start(transport.from_previous(), in);
    EXPECT_THROW(start(transport.from_previous(), in), dsea::RunError);
    start(transport.to_next(), out);
    EXPECT_THROW(start(transport.to_next(), out), dsea::RunError);
    finish_both(transport.to_next(), transport.from_previous());
    EXPECT_EQ(in, out);
  });
}

TEST(Transport, SlicesOfTheStartAreHandedOnToRankZero) {
  on_every_rank([](Transport& transport) {
    if (transport.size() == 1) return;
    constexpr std::uint64_t rounds = 10;
    const auto size = [](int maker, std::uint64_t i) { return static_cast<std::size_t>(maker) * 4000 + 17 * i; };
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const int last = transport.rank() == 0 ? transport.size() - 1 : transport.rank();
      for (int maker = 1; maker <= last; ++maker) {
        Bytes data = content(maker, i, size(maker, i));
        if (maker != transport.rank()) {
          Bytes came(data.size());
          start(transport.load_from_previous(), came);
          finish(transport.load_from_previous());
          ASSERT_TRUE(came == data) << "slice " << i << " of rank " << maker;
        }
        if (transport.rank() == 0) continue;
        start(transport.load_to_next(), data);
        finish(transport.load_to_next());
      }
    }
  });
}

TEST(Transport, WhatCirculatesDoesNotWaitForTheStart) {
  std::vector<Bytes> memory(5, Bytes(1'000'000));  // of transfers that end with the transport
  on_every_rank([&](Transport& transport) {
    if (transport.rank() > 0) start(transport.load_to_next(), memory[static_cast<std::size_t>(transport.rank())]);
    ring_of_random_transfers(transport, 5, 100'000);  // nobody takes the start
    barrier();
  });
}

TEST(Transport, GatherBringsEveryRanksBytes) {
  on_every_rank([](Transport& transport) {
    for (std::uint64_t round = 0; round < 3; ++round) {
      const auto size = [&](int rank) { return static_cast<std::size_t>(rank) * round * 20'000; };
      const auto all =
          transport.gather(content(transport.rank(), round, size(transport.rank())), std::chrono::seconds(60));
      if (transport.rank() > 0) {
        EXPECT_TRUE(all.empty());
        continue;
      }
      ASSERT_EQ(all.size(), static_cast<std::size_t>(transport.size()));
      for (int rank = 0; rank < transport.size(); ++rank) {
        EXPECT_TRUE(all[static_cast<std::size_t>(rank)] == content(rank, round, size(rank))) << "rank " << rank;
      }
    }
  });
}

TEST(Transport, GatherNamesWhoDoesNotAnswer) {
  on_every_rank([](Transport& transport) {
    if (transport.rank() > 0 || transport.size() == 1) return;
    try {
      transport.gather({}, std::chrono::milliseconds(100));
      ADD_FAILURE() << "rank 1 never came";
    } catch (const dsea::RunError& error) {
      // The other ranks do nothing and may be gone already, which some transports notice. Rank 0 waits for the first of
      // them, or for its neighbour, by whom all reports come.
      const std::string text = error.what();
      const bool named = text.find("rank 1") != std::string::npos ||
                         text.find("rank " + std::to_string(previous(transport))) != std::string::npos;
      EXPECT_TRUE(named) << text;
    }
  });
}

TEST(Transport, DifferentSizesAreAnError) {
  for (const auto& [sent, expected] : {std::pair<std::size_t, std::size_t>{100, 200},
                                       {200, 100},
                                       {0, 1},
                                       {1'000'000, 100},
                                       {100, 1'000'000},
                                       {1'000'000, 1'000'001}}) {
    on_every_rank([&, sent = sent, expected = expected](Transport& transport) {
      if (transport.size() == 1) return;
      Bytes out(sent);
      Bytes in(expected);
      const auto expect_mismatch = [&](auto& port) {
        try {
          finish(port);
          return false;
        } catch (const dsea::RunError& error) {
          const std::string text = error.what();
          EXPECT_NE(text.find(dsea::cat(sent, " bytes")), std::string::npos) << text;
          EXPECT_NE(text.find(dsea::cat(expected, " expected")), std::string::npos) << text;
          return true;
        }
      };
      start(transport.to_next(), out);
      start(transport.from_previous(), in);
      EXPECT_TRUE(expect_mismatch(transport.from_previous()));
      EXPECT_THROW(transport.from_previous().wait(std::chrono::seconds(0)), dsea::RunError) << "it must stay broken";
      if (sender_sees_mismatch() && sent > 4096) {
        EXPECT_TRUE(expect_mismatch(transport.to_next()));
      }
      barrier();
    });
  }
}

TEST(Transport, TransfersUnderWayEndWithTheTransport) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{1'000'000}}) {
    std::vector<Bytes> memory(10, Bytes(size));  // two a rank; it belongs to the ports until they are gone
    on_every_rank([&](Transport& transport) {
      if (transport.size() == 1) return;
      const auto mine = static_cast<std::size_t>(transport.rank());
      Bytes& out = memory[2 * mine];
      Bytes& in = memory[2 * mine + 1];
      if (transport.rank() % 2 == 0) start(transport.to_next(), out);
      if (transport.rank() % 3 == 0) start(transport.from_previous(), in);
      if (transport.rank() > 0) start(transport.load_to_next(), out);
      if (transport.rank() == 0) static_cast<void>(transport.from_previous().wait(std::chrono::milliseconds(1)));
    });
    on_every_rank([](Transport& transport) { ring_of_random_transfers(transport, 5, 10'000); });
  }
}

}  // namespace
