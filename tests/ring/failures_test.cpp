// What ends a run from inside or outside, tried as a user would meet it: by the command line.
#include <gtest/gtest.h>

#include "dsea/comm/mpi_session.hpp"
#include "ring/synthetic.hpp"
#include "support/command.hpp"

namespace {

using support::Finished;
using support::run_command;

/// Where users look first.
std::string last_line(const std::string& text) {
  if (text.size() < 2) return text;
  const auto end = text.rfind('\n', text.size() - 2);
  return end == std::string::npos ? text : text.substr(end + 1);
}

class Failures : public testing::Test {
 protected:
  void SetUp() override {
    const synthetic::Shape shape{.slabs = 8, .periodic = false, .in = {1}, .out = {0}};
    support::write_file(folder_ / "run.toml", shape.toml() + "[run]\nsteps = 40\nout = \"" + folder_ / "out" +
                                                  "\"\n[ring]\nworkers = 2\nwatchdog = 2\nshare_gpu = true\n");
  }
  std::string program(const std::string& more = "") const {
    return std::string(DSEA_BIN_DIR) + "/tests/synthetic_app " + (folder_ / "run.toml") + " " + more;
  }
#if defined(DSEA_MPIEXEC)
  static std::string mpirun(int ranks) {
    return dsea::cat("exec ", DSEA_MPIEXEC, " --allow-run-as-root --oversubscribe --bind-to none -n ", ranks, " ");
  }
#endif
  support::TempFolder folder_;
};

TEST_F(Failures, GoodRunEndsWithADigestAndZero) {
  const Finished f = run_command(program("--ranks 3"));
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(support::digest_of(f.out).size(), 16U) << f.out;
  EXPECT_NE(f.out.find("step 40"), std::string::npos);
}

TEST_F(Failures, AWorkerThatNeverReturnsIsReportedByTheWatchdog) {
  for (const char* ranks : {"1", "3"}) {
    const Finished f = run_command(program(std::string("--set synthetic.hang_at=9 --ranks ") + ranks), 30);
    EXPECT_EQ(f.exit_code, 3) << f.err;
    EXPECT_NE(f.err.find("no progress for 2 s"), std::string::npos) << f.err;
    EXPECT_NE(f.err.find("main thread: runs a worker (slice 2 of super-cycle"), std::string::npos) << f.err;
    EXPECT_NE(f.err.find("ring 0:"), std::string::npos) << f.err;
    EXPECT_NE(f.err.find("rank 0"), std::string::npos) << f.err;
    EXPECT_NE(last_line(f.err).find("no progress for 2 s"), std::string::npos) << f.err;
  }
}

TEST_F(Failures, ARankThatThrowsEndsTheJobWithItsMessage) {
  const Finished f = run_command(program("--set synthetic.throw_at=9 --ranks 3"), 30);
  EXPECT_EQ(f.exit_code, 3) << f.err;
  EXPECT_NE(f.err.find("made to fail"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("main thread: runs a worker (slice 2"), std::string::npos) << f.err;
  EXPECT_EQ(last_line(f.err).find("synthetic: error: rank "), 0U) << f.err;
  EXPECT_NE(last_line(f.err).find("made to fail"), std::string::npos) << f.err;
}

TEST_F(Failures, WhateverIsThrownEndsTheJob) {
  const Finished f = run_command(program("--set synthetic.throw_at=9 --set synthetic.throw_number=true --ranks 3"), 30);
  EXPECT_EQ(f.exit_code, 3) << f.err;
  EXPECT_NE(last_line(f.err).find("something was thrown that is no std::exception"), std::string::npos) << f.err;
}

TEST_F(Failures, ManyRanksStartAndDieQuickly) {
  const std::string many = "--ranks 50 --set ring.workers=1 --set ring.watchdog=60";
  const Finished good = run_command(program(many), 60);
  EXPECT_EQ(good.exit_code, 0) << good.err;
  const Finished bad = run_command(program(many + " --set synthetic.throw_at=9"), 60);
  EXPECT_EQ(bad.exit_code, 3) << bad.err;
  EXPECT_NE(bad.err.find("made to fail"), std::string::npos) << bad.err;
  EXPECT_LT(bad.seconds, 20);
}

TEST_F(Failures, SigtermSaysWhatEverybodyWaitedFor) {
  const Finished f = run_command(
      program("--ranks 2 --set synthetic.sleep_ms=500 --set ring.watchdog=30 & sleep 2; kill -TERM $!; wait $!"), 30);
  EXPECT_EQ(f.exit_code, 143) << f.err;
  EXPECT_NE(last_line(f.err).find("ended by SIGTERM"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("rank 1 of 2"), std::string::npos) << f.err;
}

TEST_F(Failures, WaitingCostsNextToNothing) {
  // One worker of one rank sleeps; three ranks wait for it. 8 slices x 2 passes x 320 ms = 5 s.
  const Finished f = run_command(program(
      "--ranks 4 --set ring.workers=1 --set run.steps=7 --set synthetic.sleep_ms=320 --set synthetic.sleep_position=1 "
      "--set ring.watchdog=30"));
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_GT(f.seconds, 4.5);
  EXPECT_LT(f.cpu_seconds, 0.1 * f.seconds) << "four waiting ranks must use under 10 % of a core";
}

#if defined(DSEA_MPIEXEC)
TEST_F(Failures, MpiGivesTheSameDigestAsLocal) {
  const std::string local = support::digest_of(run_command(program("--ranks 3")).out);
  for (int ranks : {1, 2, 4}) {
    const Finished f = run_command(mpirun(ranks) + program("--transport mpi"));
    EXPECT_EQ(f.exit_code, 0) << f.err;
    EXPECT_EQ(support::digest_of(f.out), local) << f.err;
  }
}

TEST_F(Failures, MpiWaitingCostsNextToNothing) {
  const Finished f = run_command(
      mpirun(4) +
      program("--set ring.workers=1 --set run.steps=7 --set synthetic.sleep_ms=320 --set synthetic.sleep_position=1 "
              "--set ring.watchdog=30"));
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_GT(f.seconds, 4.5);
  // Starting four MPI processes costs processor time of its own: what a run of no steps costs is taken off.
  const Finished start = run_command(mpirun(4) + program("--set run.steps=0 --set synthetic.finish=false"));
  EXPECT_LT(f.cpu_seconds - start.cpu_seconds, 0.1 * 5.1);
}

TEST_F(Failures, AKilledRankEndsTheJobAndTheOthersSayWhatTheyWaitedFor) {
  const std::string out = folder_ / "stdout";
  const Finished f =
      run_command(mpirun(3) + program("--set synthetic.sleep_ms=50 --set run.steps=4000 --set output.thermo_every=1 "
                                      "--set ring.watchdog=20 >" +
                                      out + " & until grep -q \"^ *3 \" " + out +
                                      "; do sleep 0.1; done; pkill -9 -n -f " + (folder_ / "run.toml") + "; wait $!"),
                  60);
  EXPECT_NE(f.exit_code, 0);
  EXPECT_NE(f.exit_code, 124) << "the job hung";
  EXPECT_NE(f.err.find("has ended without finishing"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("thread: "), std::string::npos) << f.err;
}

TEST_F(Failures, AnMpiRankMayFinishLongBeforeOthers) {
  // The last rank alone takes time: 8 slices x 320 ms, after the first two are through.
  const Finished f = run_command(mpirun(3) + program("--set ring.workers=1 --set run.steps=2 --set "
                                                     "synthetic.finish=false --set synthetic.sleep_ms=320 --set "
                                                     "synthetic.sleep_position=2 --set ring.link_timeout=1 --set "
                                                     "ring.watchdog=30"),
                                 30);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(f.err.find("error"), std::string::npos) << f.err;
}

TEST_F(Failures, MpiRanksWithDifferentConfigurationsAreRefused) {
  for (const char* key : {"run.steps=41", "run.seed=2", "ring.workers=1"}) {
    const Finished f = run_command(mpirun(1) + program() + " : -n 2 " + program(std::string("--set ") + key), 30);
    EXPECT_EQ(f.exit_code, 2) << f.err;
    EXPECT_NE(f.err.find("has the configuration"), std::string::npos) << f.err;
    const std::string value(key + std::string(key).find('=') + 1);
    EXPECT_NE(f.err.find(" = " + value + "; rank 0 on "), std::string::npos) << f.err;
  }
  // It does not matter who has written a value.
  const Finished same = run_command(mpirun(1) + program() + " : -n 2 " + program("--set run.seed=1"), 30);
  EXPECT_EQ(same.exit_code, 0) << same.err;
}

/// How many times the text is there.
std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(Failures, AnMpiRankThatThrowsEndsTheJobAndTheOthersSayWhatTheyWaitedFor) {
  const Finished f = run_command(mpirun(3) + program("--set synthetic.throw_at=9"), 30);
  EXPECT_EQ(f.exit_code, 3) << f.err;
  EXPECT_NE(f.err.find("made to fail"), std::string::npos) << f.err;
  EXPECT_LE(count(f.err, "made to fail"), 3U) << "once a rank: " << f.err;
  EXPECT_NE(f.err.find(" stops: rank "), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("output thread: "), std::string::npos) << f.err;
}

TEST_F(Failures, AnMpiWorkerThatNeverReturnsIsReported) {
  const Finished f = run_command(mpirun(3) + program("--set synthetic.hang_at=9"), 30);
  EXPECT_NE(f.exit_code, 0);
  EXPECT_NE(f.exit_code, 124) << "the job hung";
  EXPECT_NE(f.err.find("no progress for 2 s"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("main thread: runs a worker (slice 2"), std::string::npos) << f.err;
}

TEST_F(Failures, AStoppedMpiRankDoesNotHangTheJob) {
  const Finished f = run_command(mpirun(3) + program("--set synthetic.sleep_ms=20 --set run.steps=4000 & sleep 3; "
                                                     "pkill -STOP -n -f " +
                                                     (folder_ / "run.toml") + "; wait $!"),
                                 60);
  EXPECT_NE(f.exit_code, 0);
  EXPECT_NE(f.exit_code, 124) << "the job hung";
  EXPECT_NE(f.err.find("no progress for 2 s"), std::string::npos) << f.err;
}
#endif

}  // namespace
