#include "dsea/comm/ucx_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "comm/harness.hpp"
#include "comm/process_harness.hpp"
#include "dsea/base/error.hpp"

std::unique_ptr<dsea::Transport> comm_test::make_process_transport(dsea::MpiSession& session, std::size_t chunk_bytes) {
  dsea::UcxOptions options;
  if (chunk_bytes > 0) options.chunk_bytes = chunk_bytes;
  return dsea::make_ucx_transport(session, options);
}

namespace {

using namespace comm_test;

TEST(UcxTransport, SaysWhatItUses) {
  dsea::MpiSession session;
  EXPECT_TRUE(dsea::ucx_available());
  const auto transport = dsea::make_ucx_transport(session);
  EXPECT_EQ(transport->name(), "ucx");
  EXPECT_NE(transport->describe().find("UCX 1."), std::string::npos) << transport->describe();
  // Which of two is loaded is decided by paths: UCX 1.13 is the one that the other is compared with.
  if (std::getenv("DSEA_TEST_OTHER_UCX") != nullptr) {
    EXPECT_EQ(transport->describe().find("UCX 1.13"), std::string::npos) << transport->describe();
  }
  EXPECT_NE(transport->describe().find("one rail over all devices"), std::string::npos) << transport->describe();
}

TEST(UcxTransport, ADeviceThatIsNotThereIsNamed) {
  dsea::MpiSession session;
  try {
    dsea::UcxOptions options;
    options.rails = {"nosuch0"};
    dsea::make_ucx_transport(session, options);
    FAIL() << "no error";
  } catch (const dsea::UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("there is no network device 'nosuch0' on this node; there are: "),
              std::string::npos)
        << e.what();
  }
}

/// Transfers of all lengths around the ring, which all arrive.
void stream_around(dsea::Transport& transport, int rounds) {
  std::mt19937 random(7);
  std::uint64_t transfer = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 1000U, 65536U, 1'000'003U, 3'000'000U}) {
      Bytes out = content(transport.rank(), transfer, bytes), in(bytes);
      const auto from = cut(out, 1 + random() % 9, random), to = cut(in, 1 + random() % 9, random);
      transport.from_previous().start(to);
      transport.to_next().start(from);
      finish_both(transport.to_next(), transport.from_previous());
      ASSERT_EQ(in, content(previous(transport), transfer, bytes)) << transport.describe() << ", " << bytes << " bytes";
      ++transfer;
    }
  }
}

dsea::UcxOptions over_rails(std::size_t rails,
                            int node) {  // the same device several times: rails of their own all the same
  dsea::UcxOptions options;
  options.rails = std::vector<std::string>(rails, "lo");
  options.chunk_bytes = std::size_t{100} << 10;
  options.node = node;  // rails are for what leaves a node
  return options;
}

TEST(UcxTransport, StripesOverRails) {
  dsea::MpiSession session;
  if (session.size() == 1) return;
  for (const std::size_t rails : {2U, 3U, 4U}) {
    const auto transport = dsea::make_ucx_transport(session, over_rails(rails, session.rank()));
    stream_around(*transport, 1);
    ASSERT_EQ(transport->rails().size(), rails);
    for (const dsea::RailTraffic& rail : transport->rails()) {
      EXPECT_GT(rail.bytes, 100'000U) << rail.name;
      EXPECT_EQ(rail.lost, "");
    }
  }
}

TEST(UcxTransport, RelaysPassSlicesOn) {
  dsea::MpiSession session;
  if (session.size() == 1) return;
  // Ranks a node and rails; bench/rails.py goes through more.
  for (const auto& [ranks_a_node, rails] : {std::pair{1, 3U}, {2, 1U}, {2, 3U}, {4, 2U}}) {
    dsea::UcxOptions options = over_rails(rails, session.rank() / ranks_a_node);
    options.relays = true;
    const auto transport = dsea::make_ucx_transport(session, options);
    stream_around(*transport, 1);
  }
}

TEST(UcxTransport, OtherRailsTakeOverWhatALostOneHad) {
  dsea::MpiSession session;
  if (session.size() == 1) return;
  for (const bool relays : {false, true}) {
    dsea::UcxOptions options = over_rails(3, relays ? session.rank() / 2 : session.rank());
    options.relays = relays;
    std::mutex mutex;
    std::vector<std::string> warnings;
    std::atomic<bool> breaking{false};
    options.warn = [&](const std::string& text) {
      const std::scoped_lock lock(mutex);
      warnings.push_back(text);
    };
    options.breaks = [&](std::size_t rail, std::uint64_t transfer, std::size_t chunk) {
      return breaking && ((rail == 1 && transfer >= 7 && chunk > 5) || (rail == 0 && transfer >= 17 && chunk > 11));
    };
    const auto transport = dsea::make_ucx_transport(session, options);
    breaking = transport->rails().size() == 3;  // not within a node
    stream_around(*transport, 4);
    for (int i = 0; i < 20; ++i) {  // they come late, since rails are also lost when a rank dies
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      stream_around(*transport, 1);
    }
    const auto rails = transport->rails();
    if (!breaking) continue;
    EXPECT_NE(rails[0].lost.find("broken on purpose"), std::string::npos) << rails[0].lost;
    EXPECT_NE(rails[1].lost.find("broken on purpose"), std::string::npos) << rails[1].lost;
    EXPECT_EQ(rails[2].lost, "");
    const std::scoped_lock lock(mutex);
    ASSERT_GE(warnings.size(), 2U);
    EXPECT_NE(warnings[0].find("of 3 rails go on"), std::string::npos) << warnings[0];
  }
}

TEST(UcxTransport, WithoutRailsTheLinkIsBroken) {
  dsea::MpiSession session;
  if (session.size() == 1) return;
  dsea::UcxOptions options = over_rails(2, session.rank());
  options.breaks = [&](std::size_t, std::uint64_t transfer, std::size_t) {
    return session.rank() == 0 && transfer >= 2;
  };
  Bytes out(1'000'003), in(1'000'003);  // outlive the transport
  const auto transport = dsea::make_ucx_transport(session, options);
  std::string error;
  try {
    for (int i = 0; i < 3; ++i) {
      start(transport->from_previous(), in);
      start(transport->to_next(), out);
      bool sent = false, received = false;
      for (int looks = 0; looks < 2000 && !(sent && received); ++looks) {  // rank 1 waits for what never comes
        sent = sent || transport->to_next().wait(std::chrono::milliseconds(1));
        received = received || transport->from_previous().wait(std::chrono::milliseconds(1));
      }
    }
  } catch (const dsea::RunError& e) {
    error = e.what();
  }
  if (session.rank() != 0) return;
  EXPECT_NE(error.find("no rail is left"), std::string::npos) << error;
  EXPECT_NE(error.find("broken on purpose"), std::string::npos) << error;
}

}  // namespace
