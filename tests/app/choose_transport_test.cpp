#include "dsea/app/choose_transport.hpp"

#include <gtest/gtest.h>

namespace {

using dsea::choose_transport;

TEST(ChooseTransport, TakesTheFasterAndSaysBothSpeeds) {
  const auto ucx = choose_transport(9.8e9, 11.3e9, "", false);
  EXPECT_TRUE(ucx.ucx);
  EXPECT_EQ(ucx.why, "transport ucx: 11.3 GB/s to the next rank at the slowest link, mpi 9.80 GB/s");
  const auto mpi = choose_transport(2e9, 1e9, "", false);
  EXPECT_FALSE(mpi.ucx);
  EXPECT_EQ(mpi.why, "transport mpi: 2.00 GB/s to the next rank at the slowest link, ucx 1.00 GB/s");
}

TEST(ChooseTransport, OfEqualsTakesTheSimplerOrTheOneThatKeepsGoingWithoutARail) {
  EXPECT_FALSE(choose_transport(1e9, 1.04e9, "", false).ucx);
  EXPECT_TRUE(choose_transport(1e9, 1.06e9, "", false).ucx);
  EXPECT_TRUE(choose_transport(1.04e9, 1e9, "", true).ucx);
  EXPECT_FALSE(choose_transport(1.06e9, 1e9, "", true).ucx);
}

TEST(ChooseTransport, SaysWhyOneCannotBeUsed) {
  const auto choice = choose_transport(1e9, 0, "is not in this build", false);
  EXPECT_FALSE(choice.ucx);
  EXPECT_EQ(choice.why, "transport mpi: ucx is not in this build");
  EXPECT_EQ(choose_transport(1e9, 0, "failed: no device", false).why, "transport mpi: ucx failed: no device");
}

TEST(ChooseTransport, RailsAreMentionedWhereTheyAreNotUsed) {
  EXPECT_EQ(choose_transport(1e9, 2e9, "", true).why, choose_transport(1e9, 2e9, "", false).why);
  const auto slower = choose_transport(2e9, 1e9, "", true);
  EXPECT_FALSE(slower.ucx);
  EXPECT_EQ(slower.why,
            "transport mpi: 2.00 GB/s to the next rank at the slowest link, ucx 1.00 GB/s, so ring.rails is not used");
  EXPECT_EQ(choose_transport(1e9, 0, "failed: no way", true).why,
            "transport mpi: ucx failed: no way, so ring.rails is not used");
}

}  // namespace
