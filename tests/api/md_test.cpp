// Runs the skeleton of molecular dynamics: molecules migrate, none is lost, energy stays, and the state does not depend
// on how the ring is cut, though the age of the neighbour lists does.
#include <gtest/gtest.h>

#include <set>

#include "tests/api/skeleton_md.hpp"

template class dsea::ProgramOf<skeleton::Md>;

namespace {

dsea::RunOutcome run(int slabs, bool periodic, int ranks, int workers, std::int64_t steps, int migrate_every = 4,
                     const dsea::DeviceOptions& device = {}) {
  const auto config = dsea::Config::from_text(dsea::cat("md = {slabs = ", slabs, ", migrate_every = ", migrate_every,
                                                        "}\nboundary.x = \"", periodic ? "periodic" : "outflow",
                                                        "\"\nrun.steps = ", steps, "\nring.workers = ", workers,
                                                        "\noutput.thermo_every = 1\n"));
  return dsea::run_local<skeleton::Md>(config, ranks, device);
}

TEST(Md, TheStateDoesNotDependOnTheRing) {
  for (const bool periodic : {true, false}) {
    for (const int slabs : {1, 2, 3, 7}) {
      const auto one = run(slabs, periodic, 1, 1, 22);
      for (const auto& [ranks, workers] : {std::pair{1, 3}, {2, 1}, {3, 2}, {2, 5}}) {
        const auto other = run(slabs, periodic, ranks, workers, 22);
        EXPECT_EQ(other.digest(), one.digest()) << slabs << " slabs, " << ranks << " x " << workers;
        ASSERT_EQ(other.rows.size(), one.rows.size());
        for (std::size_t i = 0; i < one.rows.size(); ++i) EXPECT_EQ(other.rows[i].columns, one.rows[i].columns) << i;
      }
    }
  }
}

TEST(Md, DelayedStreamsChangeNothing) {
  dsea::DeviceOptions device;
  device.async_streams = true;
  device.delay_seed = 5;
  EXPECT_EQ(run(5, true, 2, 3, 12, 4, device).digest(), run(5, true, 1, 1, 12).digest());
}

TEST(Md, MoleculesCrossSlabsAndEnergyStays) {
  const auto outcome = run(6, true, 2, 3, 200);
  ASSERT_EQ(outcome.rows.size(), 201U);  // the closing pass reports the last step
  double moved = 0;
  for (const auto& row : outcome.rows) {
    moved += row.columns[3];
    EXPECT_NEAR(row.columns[2], outcome.rows[0].columns[2], 0.01 * outcome.rows[0].columns[0]) << row.step;
  }
  EXPECT_GT(moved, 50);
  EXPECT_NE(outcome.rows[100].columns[0], outcome.rows[0].columns[0]);
}

TEST(Md, ARunawayMoleculeEndsTheRunInWords) {
  const auto config = dsea::Config::from_text("md.slabs = 5\ntime.dt = 0.2\nrun.steps = 20\nring.workers = 2\n");
  try {
    dsea::run_local<skeleton::Md>(config, 2);
    FAIL() << "molecules that cross more than the skin must be noticed";
  } catch (const dsea::RunError& e) {
    EXPECT_NE(std::string(e.what()).find("left its slab by more than the skin"), std::string::npos) << e.what();
  }
}

}  // namespace
