#include "dsea/comm/mpi_transport.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
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

}  // namespace
