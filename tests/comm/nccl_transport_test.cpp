// What only transport nccl does: device memory, a GPU a rank, errors of the library.
#include "dsea/comm/nccl_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "comm/harness.hpp"
#include "comm/mock_nccl.hpp"
#include "comm/nccl_ranks.hpp"
#include "dsea/base/error.hpp"
#include "dsea/device/buffer.hpp"
#include "dsea/device/stream.hpp"

namespace {

using namespace comm_test;
using namespace std::chrono_literals;
using dsea::Segment;

/// Bytes of which some are on the host and some on the device, cut at random.
class MixedMemory {
 public:
  template <class Random>
  MixedMemory(const dsea::Device& device, std::size_t bytes, std::size_t pieces, int on_device_of_4, Random& random)
      : stream_(device, "test"), host_(bytes), device_(device, bytes, dsea::Memory::device) {
    segments = cut(host_, pieces, random);
    for (Segment& s : segments) {
      s.on_device = static_cast<int>(random() % 4) < on_device_of_4;
      if (s.on_device) s.data = at(s);
    }
  }

  void set(const Bytes& from) {
    std::size_t done = 0;
    for (const Segment& s : segments) {
      dsea::copy(stream_, s.data, from.data() + done, s.bytes);
      done += s.bytes;
    }
    stream_.synchronize();
  }

  Bytes get() {
    Bytes all(host_.size());
    std::size_t done = 0;
    for (const Segment& s : segments) {
      dsea::copy(stream_, all.data() + done, s.data, s.bytes);
      done += s.bytes;
    }
    stream_.synchronize();
    return all;
  }

  std::vector<Segment> segments;

 private:
  void* at(const Segment& s) const {
    return device_.as<std::byte>() + (static_cast<std::byte*>(s.data) - host_.data());
  }

  dsea::Stream stream_;
  Bytes host_;
  dsea::Buffer device_;
};

void mixed_transfers(dsea::Transport& transport, const std::vector<std::size_t>& sizes, int of_4_here, int of_4_there) {
  if (transport.size() == 1) return;
  const dsea::Device device = NcclRanks::device(transport.rank());
  std::mt19937 random(static_cast<unsigned>(transport.rank()) + 11);
  std::uint64_t transfer = 0;
  for (const std::size_t bytes : sizes) {
    MixedMemory out(device, bytes, 1 + random() % 20, of_4_here, random);
    MixedMemory in(device, bytes, 1 + random() % 20, of_4_there, random);
    out.set(content(transport.rank(), transfer, bytes));
    transport.to_next().start(out.segments);
    transport.from_previous().start(in.segments);
    finish_both(transport.to_next(), transport.from_previous());
    EXPECT_TRUE(in.get() == content(previous(transport), transfer, bytes)) << bytes << " bytes";
    ++transfer;
  }
}

TEST(NcclTransport, DeviceAndHostMemoryMixAsTheyLike) {
  const std::vector<std::size_t> sizes{0, 1, 63, 64, 65, 2048, 2049, 5000, 70'000, 200'003, 100, 40'000};
  for (const auto& [here, there] : {std::pair{4, 4}, {2, 3}, {0, 4}, {4, 0}}) {
    on_every_rank([&, h = here, t = there](dsea::Transport& transport) { mixed_transfers(transport, sizes, h, t); },
                  {.chunk_bytes = 10'000});
  }
}

TEST(NcclTransport, DeviceMemoryOfATransferGoesAtOnce) {
  on_every_rank([](dsea::Transport& transport) {
    if (transport.size() == 1) return;
    const dsea::Device device = NcclRanks::device(transport.rank());
    const dsea::Buffer out(device, 50'000, dsea::Memory::device), in(device, 50'000, dsea::Memory::device);
    std::vector<Segment> from, to;
    for (std::size_t i = 0; i < 5; ++i) {
      from.push_back({out.as<std::byte>() + i * 10'000, 10'000, true});
      to.push_back({in.as<std::byte>() + i * 10'000, 10'000, true});
    }
    barrier();
    const mock_nccl::Counts before = mock_nccl::counts();
    barrier();
    transport.to_next().start(from);
    transport.from_previous().start(to);
    finish_both(transport.to_next(), transport.from_previous());
    barrier();
    const mock_nccl::Counts after = mock_nccl::counts();
    EXPECT_EQ(after.groups - before.groups, 2 * transport.size());
    EXPECT_EQ(after.messages - before.messages, 10 * transport.size());
    barrier();
  });
}

TEST(NcclTransport, SmallTransfersDoWithoutNccl) {
  on_every_rank([](dsea::Transport& transport) {
    barrier();
    const mock_nccl::Counts before = mock_nccl::counts();
    barrier();
    mixed_transfers(transport, {1, 100, 2048, 0}, 0, 0);
    mixed_transfers(transport, {1, 100, 2048, 0}, 0, 2);
    barrier();
    EXPECT_EQ(mock_nccl::counts(), before);
    barrier();
  });
}

TEST(NcclTransport, SaysWhatGoesHow) {
  on_every_rank([](dsea::Transport& transport) {
    const std::string text = transport.describe();
    EXPECT_NE(text.find("NCCL 2.18.5 (mock)"), std::string::npos) << text;
    EXPECT_NE(text.find("1 MiB of device memory"), std::string::npos) << text;
    EXPECT_NE(text.find("by local"), std::string::npos) << text;
  });
}

/// Runs something in a thread for each of two ranks, and gives what they throw.
template <class Body>
std::vector<std::string> errors_of_two(Body body) {
  std::vector<std::string> errors(2);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(rank);
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
  }
  return errors;
}

TEST(NcclTransport, AnAsynchronousErrorNamesTheRanksAndAborts) {
  mock_nccl::reset();
  NcclRanks all(2);
  std::barrier<> meeting(2);
  const auto errors = errors_of_two([&](int rank) {
    const auto transport = all.transport(rank);
    Bytes data = content(rank, 0, 100'000);
    meeting.arrive_and_wait();
    if (rank == 0) mock_nccl::fail_next_group(6);
    const auto transfer = [&](auto& port) {
      start(port, data);
      try {
        finish(port);
        ADD_FAILURE() << "no error";
      } catch (const dsea::RunError& error) {
        EXPECT_THROW(port.wait(0s), dsea::RunError) << "it must stay broken";
        EXPECT_THROW(start(port, data), dsea::RunError);
        meeting.arrive_and_wait();
        throw;
      }
    };
    rank == 0 ? transfer(transport->to_next()) : transfer(transport->from_previous());
  });
  EXPECT_NE(errors[0].find("sending from rank 0 to rank 1"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("receiving on rank 1 from rank 0"), std::string::npos) << errors[1];
  for (const std::string& text : errors) {
    EXPECT_NE(text.find("remote process exited (the mock says so)"), std::string::npos) << text;
  }
  EXPECT_EQ(mock_nccl::counts().aborted, 2) << "of the broken link; the other one ends in peace";
  EXPECT_EQ(mock_nccl::counts().destroyed, 2);
}

TEST(NcclTransport, ErrorsAreSeenWhileNothingComes) {
  mock_nccl::reset();
  NcclRanks all(2);
  std::barrier<> meeting(2);
  const auto errors = errors_of_two([&](int rank) {
    const auto transport = all.transport(rank);
    Bytes data(100'000);
    meeting.arrive_and_wait();
    if (rank == 1) {
      start(transport->from_previous(), data);
      EXPECT_FALSE(transport->from_previous().wait(10ms));
      mock_nccl::fail_links(6);
      EXPECT_THROW(transport->from_previous().wait(10ms), dsea::RunError);
    }
    meeting.arrive_and_wait();
  });
  for (const std::string& text : errors) EXPECT_EQ(text, "");
  EXPECT_EQ(mock_nccl::counts().aborted, 4) << "nobody can end a broken link in peace";
}

TEST(NcclTransport, ARankThatDoesNotComeIsAnError) {
  mock_nccl::reset();
  NcclRanks all(2);
  const auto errors = errors_of_two([&](int rank) {
    dsea::NcclWorld world = all.world(rank);
    if (rank == 0) {
      dsea::make_nccl_transport(std::move(world), NcclRanks::device(0), mock_nccl::api(), {.start_timeout = 100ms});
    } else {  // takes part in the exchange, but makes no communicator
      world.exchange({});
      world.exchange(Bytes(sizeof(dsea::NcclUniqueId) + 4));
    }
  });
  EXPECT_NE(errors[0].find("the other rank did not come"), std::string::npos) << errors[0];
  EXPECT_EQ(mock_nccl::counts().aborted, 1);
}

TEST(NcclTransport, WrongBytesAreFoundAtTheStart) {
  mock_nccl::reset();
  mock_nccl::corrupt(true);
  NcclRanks all(2);
  const auto errors = errors_of_two([&](int rank) { all.transport(rank); });
  for (const std::string& text : errors) {
    EXPECT_NE(text.find("other bytes than were sent"), std::string::npos) << text;
  }
}

TEST(NcclTransport, TwoRanksOnAGpuAreRefused) {
  mock_nccl::reset();
  NcclRanks all(2);
  std::atomic<int> refused{0};
  const auto errors = errors_of_two([&](int rank) {
    try {
      dsea::make_nccl_transport(all.world(rank), NcclRanks::device(1), mock_nccl::api());
    } catch (const dsea::UsageError&) {
      ++refused;
      throw;
    }
  });
  EXPECT_EQ(refused, 2);
  for (const std::string& text : errors) {
    EXPECT_NE(text.find("ranks 0 and 1 share GPU 0000:3b:00.0 of "), std::string::npos) << text;
    EXPECT_NE(text.find("srun --gpus-per-task=1"), std::string::npos) << text;
    EXPECT_NE(text.find("--transport mpi or ucx"), std::string::npos) << text;
  }
  EXPECT_EQ(mock_nccl::counts().communicators, 0);
}

TEST(NcclTransport, TheHostIsRefused) {
  NcclRanks all(1);
  try {
    dsea::make_nccl_transport(all.world(0), dsea::Device::open({.backend = "host"}), mock_nccl::api());
    FAIL() << "no error";
  } catch (const dsea::UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("nccl moves memory of GPUs only"), std::string::npos) << text;
  }
}

}  // namespace
