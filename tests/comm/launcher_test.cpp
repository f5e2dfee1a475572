#include "dsea/comm/launcher.hpp"

#include <gtest/gtest.h>

#include <map>

#include "dsea/base/error.hpp"
#include "dsea/comm/mpi_session.hpp"

namespace {

dsea::Launcher launcher(const std::map<std::string, std::string>& environment) {
  return dsea::find_launcher([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, IsFoundInTheEnvironment) {
  EXPECT_FALSE(launcher({}).found());
  EXPECT_EQ(launcher({{"OMPI_COMM_WORLD_SIZE", "4"}}).ranks, 4);
  EXPECT_EQ(launcher({{"PMI_SIZE", "3"}}).ranks, 3);
  EXPECT_TRUE(launcher({{"PMIX_RANK", "0"}}).found());
  EXPECT_EQ(launcher({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "0"}}).ranks, 8);
  EXPECT_EQ(launcher({{"SLURM_NTASKS", "6"}, {"SLURM_STEP_ID", "0"}}).name, "srun");
  EXPECT_EQ(launcher({{"OMPI_COMM_WORLD_SIZE", "2"}, {"SLURM_STEP_NUM_TASKS", "1"}}).ranks, 2) << "mpirun within srun";
}

TEST(Launcher, ABatchScriptIsNone) {
  EXPECT_FALSE(launcher({{"SLURM_NTASKS", "6"}}).found());
  EXPECT_FALSE(launcher({{"SLURM_NTASKS", "6"}, {"SLURM_STEP_ID", "4294967291"}}).found()) << "its step's number";
}

TEST(Launcher, MpirunWithinABatchScriptIsFound) {
  const auto mpirun = launcher({{"SLURM_NTASKS", "6"}, {"SLURM_STEP_ID", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_EQ(mpirun.name, "mpirun (Open MPI)");
  EXPECT_EQ(mpirun.ranks, 4);
  // One that starts a helper a node by srun, which starts the processes.
  const auto mpiexec = launcher({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"PMI_SIZE", "8"}});
  EXPECT_EQ(mpiexec.name, "mpiexec (PMI)");
  EXPECT_EQ(mpiexec.ranks, 8);
  EXPECT_EQ(launcher({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"PMI_SIZE", "8"}}).name, "srun");
}

TEST(Launcher, ProcessesThatDoNotKnowEachOtherAreSeen) {
  EXPECT_EQ(dsea::launcher_mismatch({}, 1, "L"), "");
  EXPECT_EQ(dsea::launcher_mismatch({"srun", 4, false}, 4, "L"), "");
  EXPECT_EQ(dsea::launcher_mismatch({"a PMIx launcher", 0, true}, 1, "L"), "");
  EXPECT_NE(dsea::launcher_mismatch({"srun", 4, false}, 1, "L 1.0").find("srun --mpi=pmix"), std::string::npos);
  EXPECT_NE(dsea::launcher_mismatch({"mpiexec (PMI)", 4, true}, 1, "L 1.0").find("(L 1.0)"), std::string::npos);
}

TEST(Launcher, OpenMpiIsNotStartedUnderAnSrunWithoutPmi) {
  const std::map<std::string, std::string> step{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_ID", "0"}};
  EXPECT_NE(dsea::launcher_refusal(launcher(step), "Open MPI v4.1.4").find("srun --mpi=pmix"), std::string::npos);
  EXPECT_EQ(dsea::launcher_refusal(launcher(step), "MPICH Version: 4.0.2"), "") << "may use Slurm's own PMI-1";
  for (const char* offer : {"PMIX_RANK", "PMI_RANK"}) {
    auto with_pmi = step;
    with_pmi[offer] = "0";
    EXPECT_EQ(dsea::launcher_refusal(launcher(with_pmi), "Open MPI v4.1.4"), "") << offer;
  }
  EXPECT_EQ(dsea::launcher_refusal(launcher({}), "Open MPI v4.1.4"), "") << "alone";
}

TEST(MpiSession, IsRefusedWhereThereIsNoMpi) {
  if (dsea::mpi_available()) GTEST_SKIP() << "built with MPI";
  EXPECT_THROW(dsea::MpiSession{}, dsea::UsageError);
}

}  // namespace
