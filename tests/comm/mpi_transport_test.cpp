#include "dsea/comm/mpi_transport.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "comm/harness.hpp"
#include "comm/process_harness.hpp"
#include "dsea/base/error.hpp"

std::unique_ptr<dsea::Transport> comm_test::make_process_transport(dsea::MpiSession& session, std::size_t chunk_bytes) {
  dsea::MpiOptions options;
  if (chunk_bytes > 0) options.chunk_bytes = chunk_bytes;
  return dsea::make_mpi_transport(session, options);
}

namespace {

using namespace comm_test;
using dsea::Segment;

TEST(MpiSession, KnowsTheLibrary) {
  const dsea::MpiSession session;
  EXPECT_TRUE(dsea::mpi_available());
  EXPECT_LT(session.rank(), session.size());
  EXPECT_GT(session.library().size(), 4u);
  EXPECT_EQ(session.library().find_first_of(",\n\t"), std::string::npos) << session.library();
}

TEST(MpiSession, RefusesALauncherOfAnotherLibrary) {
  dsea::MpiSession session;
  if (session.size() > 1) return;
  const char* before = std::getenv("OMPI_COMM_WORLD_SIZE");
  const std::string kept = before != nullptr ? before : "1";
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_THROW(dsea::MpiSession{}, dsea::UsageError);
  setenv("OMPI_COMM_WORLD_SIZE", kept.c_str(), 1);
}

TEST(MpiTransport, RefusesMessagesOutOfRange) {
  dsea::MpiSession session;
  EXPECT_THROW(dsea::make_mpi_transport(session, {.chunk_bytes = 0}), dsea::UsageError);
  EXPECT_THROW(dsea::make_mpi_transport(session, {.chunk_bytes = std::size_t{1} << 30}), dsea::UsageError);
}

TEST(MpiTransport, SeveralLiveSideBySide) {
  dsea::MpiSession session;
  if (session.size() == 1) return;
  const auto one = dsea::make_mpi_transport(session);
  const auto two = dsea::make_mpi_transport(session);
  Bytes out_one = content(session.rank(), 1, 5000);
  Bytes out_two = content(session.rank(), 2, 5000);
  Bytes in_one(5000), in_two(5000);
  start(two->to_next(), out_two);
  start(one->to_next(), out_one);
  start(one->from_previous(), in_one);
  start(two->from_previous(), in_two);
  finish_both(one->to_next(), one->from_previous());
  finish_both(two->to_next(), two->from_previous());
  const int from = (session.rank() + session.size() - 1) % session.size();
  EXPECT_EQ(in_one, content(from, 1, 5000));
  EXPECT_EQ(in_two, content(from, 2, 5000));
}

TEST(MpiDeviceMemory, DebiansOpenMpiSaysItCannot) {
  const dsea::MpiSession session;
  if (session.library().find("Open MPI v4.1.4") == std::string::npos) GTEST_SKIP() << session.library();
  const dsea::MpiDeviceAnswer answer = dsea::ask_mpi_for_device_memory(session.library());
  EXPECT_FALSE(answer.yes);
  EXPECT_NE(answer.why.find("was built without CUDA support"), std::string::npos) << answer.why;
}

TEST(MpiDeviceMemory, IsStagedWithoutAGpuAndTheLogSaysWhy) {
  dsea::MpiSession session;
  const dsea::Device host = dsea::Device::open({.backend = "host"});
  for (const auto& transport :
       {dsea::make_mpi_transport(session), dsea::make_mpi_transport(session, {.device = host})}) {
    EXPECT_FALSE(transport->takes_device_memory());
    EXPECT_NE(transport->describe().find("device memory staged through the host (no GPU is used)"), std::string::npos)
        << transport->describe();
  }
}

TEST(MpiDeviceMemory, OneRankThatCannotIsEnough) {
  dsea::MpiSession session;
  if (session.size() == 1) return;
  const bool last = session.rank() == session.size() - 1;
  const auto transport = dsea::make_mpi_transport(
      session, {.device = dsea::Device::open({.backend = "host"}),
                .device_memory = last ? dsea::MpiDeviceMemory::no : dsea::MpiDeviceMemory::yes});
  EXPECT_FALSE(transport->takes_device_memory());
  if (!last) {
    EXPECT_NE(transport->describe().find("not all ranks can"), std::string::npos) << transport->describe();
  }
}

/// The host's memory plays a device's: MPI can move it, and is told that it can.
TEST(MpiDeviceMemory, GoesStraightOnceItIsTried) {
  dsea::MpiSession session;
  const auto transport = dsea::make_mpi_transport(session, {.chunk_bytes = 5000,
                                                            .device = dsea::Device::open({.backend = "host"}),
                                                            .device_memory = dsea::MpiDeviceMemory::yes});
  EXPECT_TRUE(transport->takes_device_memory());
  EXPECT_NE(transport->describe().find("device memory goes straight (tried: it was asked for)"), std::string::npos)
      << transport->describe();
  if (transport->size() == 1) return;
  Bytes nothing(10);
  const Segment early{nothing.data(), nothing.size(), true};
  EXPECT_THROW(transport->to_next().start({&early, 1}), dsea::RunError) << "set_copy() was not called";
  std::size_t copied = 0;
  transport->set_copy([&](void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    copied += bytes;
  });
  Bytes out = content(transport->rank(), 1, 30'000), in(out.size());
  const auto segments = [](Bytes& data, bool on_device) {
    return std::vector<Segment>{{data.data(), 100, on_device},
                                {data.data() + 100, 9'000, true},
                                {data.data() + 9'100, 10'000, true},
                                {data.data() + 19'100, 10'900, false}};
  };
  transport->to_next().start(segments(out, false));
  transport->from_previous().start(segments(in, true));  // 100 bytes that the first message brings
  finish_both(transport->to_next(), transport->from_previous());
  EXPECT_EQ(in, content(previous(*transport), 1, in.size()));
  EXPECT_EQ(copied, 100U) << "only what comes within the first message is copied";

  transport->to_next().start(std::vector<Segment>{{out.data(), 30'000, true}});
  transport->from_previous().start(std::vector<Segment>{{in.data(), 10'000, true}, {in.data() + 10'000, 20'000, true}});
  finish_both(transport->to_next(), transport->from_previous());
  EXPECT_EQ(in, content(previous(*transport), 1, in.size())) << "cut differently, all on the device";
}

}  // namespace
