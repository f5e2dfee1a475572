#include "dsea/comm/ucx_transport.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

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

TEST(UcxTransport, StripesOverRails) {  // the same device several times: rails of their own all the same
  dsea::MpiSession session;
  std::mt19937 random(7);
  for (const std::size_t rails : {2U, 3U, 4U}) {
    dsea::UcxOptions options;
    options.rails = std::vector<std::string>(rails, "lo");
    options.chunk_bytes = std::size_t{100} << 10;
    options.node = session.rank();  // rails are for what leaves a node
    const auto transport = dsea::make_ucx_transport(session, options);
    if (transport->size() == 1) return;
    std::uint64_t transfer = 0;
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 1000U, 65536U, 1'000'003U, 3'000'000U}) {
      Bytes out = content(transport->rank(), transfer, bytes), in(bytes);
      const auto from = cut(out, 1 + random() % 9, random), to = cut(in, 1 + random() % 9, random);
      transport->from_previous().start(to);
      transport->to_next().start(from);
      finish_both(transport->to_next(), transport->from_previous());
      EXPECT_EQ(in, content(previous(*transport), transfer, bytes)) << rails << " rails, " << bytes << " bytes";
      ++transfer;
    }
  }
}

}  // namespace
