#include "dsea/app/choose_transport.hpp"

#include <gtest/gtest.h>

namespace {

using dsea::choose_transport;

TEST(ChooseTransport, TakesTheFasterAndSaysBothSpeeds) {
  const auto ucx = choose_transport(9.8e9, 11.3e9, "");
  EXPECT_TRUE(ucx.ucx);
  EXPECT_EQ(ucx.why, "transport ucx: 11.3 GB/s to the next rank at the slowest link, mpi 9.80 GB/s");
  const auto mpi = choose_transport(2e9, 1e9, "");
  EXPECT_FALSE(mpi.ucx);
  EXPECT_EQ(mpi.why, "transport mpi: 2.00 GB/s to the next rank at the slowest link, ucx 1.00 GB/s");
}

TEST(ChooseTransport, OfEqualsTakesTheSimpler) {
  EXPECT_FALSE(choose_transport(1e9, 1.04e9, "").ucx);
  EXPECT_TRUE(choose_transport(1e9, 1.06e9, "").ucx);
}

TEST(ChooseTransport, SaysWhyOneCannotBeUsed) {
  const auto choice = choose_transport(1e9, 0, "is not in this build");
  EXPECT_FALSE(choice.ucx);
  EXPECT_EQ(choice.why, "transport mpi: ucx is not in this build");
  EXPECT_EQ(choose_transport(1e9, 0, "failed: no device").why, "transport mpi: ucx failed: no device");
}

}  // namespace
