// The shipped programs, from the command line: the digest is the same over `local` and `mpi`, for any ranks and
// workers.
#include <gtest/gtest.h>

#include "dsea/base/text.hpp"
#include "dsea/comm/ucx_transport.hpp"
#include "support/command.hpp"

namespace {

std::string digest(const std::string& command) {
  const support::Finished f = support::run_command(command, 100);
  EXPECT_EQ(f.exit_code, 0) << command << "\n" << f.err;
  return support::digest_of(f.out);
}

void expect_one_digest(const std::string& program, const std::string& sets) {
  const support::TempFolder folder;
  const std::string run =
      dsea::cat(DSEA_BIN_DIR, "/", program, " ", DSEA_SOURCE_DIR, "/apps/", program, "/", program, ".toml --out ",
                folder / "out", " --set output.thermo_every=0 --set ring.share_gpu=true ", sets);
  const std::string right = digest(run + " --ranks 1 --set ring.workers=1");
  ASSERT_EQ(right.size(), 16U);
  struct Case {
    int ranks, workers;
    const char* more;
  };
  for (const Case& c :
       {Case{2, 3, ""}, Case{3, 1, "--set ring.slots=fewest"}, Case{5, 2, ""}, Case{4, 8, "--threads 2"},
        Case{1, 5, "--set ring.async_streams=true --set ring.delay_seed=3"}}) {
    const std::string rest = dsea::cat(" --set ring.workers=", c.workers, " ", c.more);
    EXPECT_EQ(digest(dsea::cat(DSEA_MPIEXEC, " --oversubscribe -n ", c.ranks, " ", run, " --transport mpi", rest)),
              right)
        << "mpi, " << c.ranks << " ranks" << rest;
    if (dsea::ucx_available() && c.workers % 2 == 1) {
      EXPECT_EQ(digest(dsea::cat(DSEA_MPIEXEC, " --oversubscribe -n ", c.ranks, " ", run, " --transport ucx", rest,
                                 c.ranks == 3 ? R"( --set "ring.rails=[\"lo\"]")" : "")),
                right)
          << "ucx, " << c.ranks << " ranks" << rest;
    }
    EXPECT_EQ(digest(dsea::cat(run, " --ranks ", c.ranks, rest)), right) << "local, " << c.ranks << " ranks" << rest;
  }
}

TEST(MpiDigest, Heat) {
  for (const char* nx : {"16", "21"}) {
    for (const char* x : {"periodic", "insulated"}) {
      expect_one_digest("heat", dsea::cat("--set grid.nx=", nx,
                                          " --set grid.ny=16 --set grid.nz=8 --set run.steps=12 "
                                          "--set boundary.x=",
                                          x));
    }
  }
}

TEST(MpiDigest, Ljmd) {
  for (const char* cells : {"[8, 4, 4]", "[11, 4, 4]"}) {
    for (const char* x : {"periodic", "mirror"}) {
      expect_one_digest("ljmd",
                        dsea::cat("--set \"system.cells=", cells, "\" --set run.steps=12 --set boundary.x=", x));
    }
  }
}

}  // namespace
