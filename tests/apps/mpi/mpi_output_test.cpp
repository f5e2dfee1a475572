// What ljmd leaves in its folder has the same bits when ranks are processes that share nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "dsea/base/text.hpp"
#include "support/command.hpp"

namespace {

TEST(MpiOutput, Ljmd) {
  const support::TempFolder folder;
  const std::string run = dsea::cat(
      DSEA_BIN_DIR, "/ljmd ", DSEA_SOURCE_DIR,
      "/apps/ljmd/ljmd.toml --set \"system.cells=[9, 4, 4]\" --set run.steps=23",
      " --set output.thermo_every=0 --set output.profile_every=2 --set output.dump_every=6 --set profile.bins=30",
      " --set output.write_data=end.data --set ring.share_gpu=true --out ", folder / "");
  const auto finished = [](const std::string& command) {
    const support::Finished f = support::run_command(command, 100);
    EXPECT_EQ(f.exit_code, 0) << command << "\n" << f.err;
  };
  finished(run + "one --set ring.workers=1");
  for (const auto& [ranks, workers] : {std::pair{3, 2}, std::pair{2, 5}}) {
    finished(dsea::cat(DSEA_MPIEXEC, " --oversubscribe -n ", ranks, " ", run,
                       "many --transport mpi --set ring.workers=", workers));
    for (const char* name : {"profile.csv", "end.data", "dump.6.lammpstrj", "dump.18.lammpstrj"}) {
      const std::string right = support::read_file(folder / dsea::cat("one/", name));
      EXPECT_GT(right.size(), 1000U) << name;
      EXPECT_TRUE(support::read_file(folder / dsea::cat("many/", name)) == right)
          << name << " of " << ranks << " ranks";
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder / "many")) {
      EXPECT_NE(entry.path().extension(), ".sums") << entry.path();
    }
  }
}

}  // namespace
