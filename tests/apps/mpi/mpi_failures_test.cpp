// Processes that are killed, stopped or suspended in the middle of a run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "dsea/base/text.hpp"
#include "support/job.hpp"

namespace {

using support::Job;

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class MpiFailures : public testing::Test {
 protected:
  std::string heat(const std::string& more) const {
    return dsea::cat(DSEA_BIN_DIR, "/heat ", DSEA_SOURCE_DIR, "/apps/heat/heat.toml --out ", folder_ / "out",
                     " --set output.thermo_every=1 --set grid.nx=32 --set grid.ny=64 --set grid.nz=64",
                     " --set ring.workers=2 ", more);
  }
  static std::string mpirun() { return dsea::cat(DSEA_MPIEXEC, " --oversubscribe -n 3 "); }

  /// Waits until steps are being made: rows of the table come.
  static void expect_running(Job& job) {
    ASSERT_TRUE(Job::wait_until([&] { return count(job.out(), "\n") > 10; })) << job.err();
    for (const pid_t pid : job.ranks(3)) ASSERT_GT(pid, 0);
  }

  /// Every survivor has said once what it knows.
  static void expect_told(const std::string& err, const std::string& cause) {
    for (int rank : {0, 1}) {
      EXPECT_EQ(count(err, dsea::cat("rank ", rank, " on ", host(), " stops: rank 2 on ", host(), cause)), 1U) << err;
      EXPECT_LE(count(err, dsea::cat("[rank ", rank, "] error:   main thread: ")), 1U) << err;
    }
    EXPECT_NE(err.find("output thread: "), std::string::npos) << err;
  }

  support::TempFolder folder_;
};

TEST_F(MpiFailures, AKilledRankEndsAllAndIsNamed) {
  for (const char* workers : {"1", "2"}) {
    Job job(mpirun() + heat(dsea::cat("--transport mpi --set run.steps=1000000 --set ring.workers=", workers)));
    expect_running(job);
    ::kill(job.ranks(3)[2], SIGKILL);
    const int code = job.wait(30);
    EXPECT_NE(code, 0);
    EXPECT_NE(code, 124) << "the job hung";
    // The launcher ends them, too, and may be faster; whoever comes first, the rank is named.
    EXPECT_NE(job.err().find(dsea::cat("rank 2 on ", host(), " has ended without finishing")), std::string::npos)
        << job.err();
    EXPECT_NE(job.err().find("output thread: "), std::string::npos) << job.err();
    EXPECT_TRUE(job.all_gone());
  }
}

TEST_F(MpiFailures, AStoppedRankEndsAllAndIsNamed) {
  Job job(mpirun() + heat("--transport mpi --set run.steps=1000000 --set ring.link_timeout=2"));
  expect_running(job);
  ::kill(job.ranks(3)[2], SIGSTOP);
  EXPECT_EQ(job.wait(30), 3);
  expect_told(job.err(), " has not answered for 2 s");
  EXPECT_TRUE(job.all_gone()) << "the stopped one as well";
}

TEST_F(MpiFailures, AJobThatWasSuspendedGoesOn) {
  const std::string run = heat("--set run.steps=2000 --set output.thermo_every=100");
  const std::string right = support::digest_of(support::run_command(run + " --ranks 1").out);
  ASSERT_EQ(right.size(), 16U);
  Job job(mpirun() + heat("--set run.steps=2000 --transport mpi --set ring.link_timeout=2"));
  expect_running(job);
  const std::vector<pid_t> ranks = job.ranks(3);
  for (const pid_t pid : ranks) ::kill(pid, SIGSTOP);
  const std::size_t rows = count(job.out(), "\n");
  std::this_thread::sleep_for(std::chrono::seconds(3));  // longer than the time-out: what is tested
  EXPECT_LT(rows, 2000U) << "it had finished before";
  for (const pid_t pid : ranks) ::kill(pid, SIGCONT);
  EXPECT_EQ(job.wait(60), 0) << job.err();
  EXPECT_EQ(support::digest_of(job.out()), right);
  EXPECT_EQ(job.err().find("error"), std::string::npos) << job.err();
}

TEST_F(MpiFailures, ALimitAndADeviceThatMakeNoSenseAreRefused) {
  for (const char* value : {"0", "-1", "0.5", "3601"}) {
    const auto f = support::run_command(heat(dsea::cat("--set ring.link_timeout=", value)));
    EXPECT_EQ(f.exit_code, 2) << value;
    EXPECT_NE(f.err.find("link_timeout"), std::string::npos) << f.err;
    EXPECT_NE(f.err.find("hang"), std::string::npos) << "why: " << f.err;
  }
  const auto f = support::run_command(mpirun() + heat("--transport mpi --set ring.control=no-device"));
  EXPECT_EQ(f.exit_code, 2) << f.err;
  EXPECT_NE(f.err.find("'no-device'"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("there are lo"), std::string::npos) << f.err;
}

TEST_F(MpiFailures, TheDeviceForHeartbeatsCanBeNamed) {
  const auto f = support::run_command(mpirun() + heat("--transport mpi --set ring.control=lo --set run.steps=5"));
  EXPECT_EQ(f.exit_code, 0) << f.err;
}

}  // namespace
