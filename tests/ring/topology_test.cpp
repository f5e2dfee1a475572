#include "dsea/ring/topology.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "dsea/base/error.hpp"

namespace {

using dsea::Topology;

TEST(Topology, OpenAxisHasOneSlabASlice) {
  const Topology t(4, false);
  EXPECT_EQ(t.slices(), 4);
  EXPECT_EQ(t.lanes(), 1);
  EXPECT_EQ(t.slab(3, 0), 3);
  EXPECT_EQ(t.place(2), (Topology::Place{2, 0}));
  EXPECT_EQ(t.neighbour(3, -2), (Topology::Neighbour{1, 0}));
  EXPECT_FALSE(t.neighbour(3, 1));
  EXPECT_FALSE(t.neighbour(0, -1));
}

TEST(Topology, FoldedAxisPutsBothEndsIntoSliceZero) {
  const Topology even(6, true);
  EXPECT_EQ(even.slices(), 3);
  EXPECT_EQ(even.lanes(), 2);
  EXPECT_EQ(even.slab(0, 0), 0);
  EXPECT_EQ(even.slab(0, 1), 5);
  EXPECT_EQ(even.slab(2, 0), 2);
  EXPECT_EQ(even.slab(2, 1), 3);
  const Topology odd(5, true);
  EXPECT_EQ(odd.slices(), 3);
  EXPECT_EQ(odd.slab(2, 0), 2);
  EXPECT_EQ(odd.slab(2, 1), -1);
}

TEST(Topology, SeamShiftsByWholeBoxes) {
  const Topology t(5, true);
  EXPECT_EQ(t.neighbour(0, -1), (Topology::Neighbour{4, -1}));
  EXPECT_EQ(t.neighbour(4, 1), (Topology::Neighbour{0, 1}));
  EXPECT_EQ(t.neighbour(4, 7), (Topology::Neighbour{1, 2}));
  EXPECT_EQ(t.neighbour(0, -5), (Topology::Neighbour{0, -1}));
  const Topology one(1, true);
  EXPECT_EQ(one.neighbour(0, 3), (Topology::Neighbour{0, 3}));
  EXPECT_EQ(one.neighbour(0, -3), (Topology::Neighbour{0, -3}));
  const Topology two(2, true);  // both neighbours are the same slab, a box apart
  EXPECT_EQ(two.neighbour(0, -1), (Topology::Neighbour{1, -1}));
  EXPECT_EQ(two.neighbour(0, 1), (Topology::Neighbour{1, 0}));
}

TEST(Topology, EverySlabHasOnePlaceAndNeighboursAreClose) {
  for (const bool periodic : {false, true}) {
    for (int slabs = 1; slabs <= 24; ++slabs) {
      const Topology t(slabs, periodic);
      std::set<int> seen;
      for (int i = 0; i < t.slices(); ++i) {
        for (int lane = 0; lane < t.lanes(); ++lane) {
          const int slab = t.slab(i, lane);
          if (slab < 0) continue;
          EXPECT_TRUE(seen.insert(slab).second);
          EXPECT_EQ(t.place(slab), (Topology::Place{i, lane}));
        }
      }
      EXPECT_EQ(static_cast<int>(seen.size()), slabs);
      for (int slab = 0; slab < slabs; ++slab) {
        for (int d = -9; d <= 9; ++d) {
          const auto n = t.neighbour(slab, d);
          EXPECT_EQ(static_cast<bool>(n), periodic || (slab + d >= 0 && slab + d < slabs));
          if (!n) continue;
          EXPECT_EQ(n.slab + n.shift * slabs, slab + d);  // the same place on the unrolled axis
          EXPECT_TRUE(n.slab >= 0 && n.slab < slabs);
          EXPECT_LE(std::abs(t.place(n.slab).slice - t.place(slab).slice), std::abs(d));
        }
      }
    }
  }
}

TEST(Topology, NoSlabsAreRefused) { EXPECT_THROW(Topology(0, true), dsea::UsageError); }

}  // namespace
