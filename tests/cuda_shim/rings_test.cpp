// Real programs on the CUDA back end, run on the CPU by the shim: rings of several ranks give the same digest, heat the
// host's, molecular dynamics the totals that LAMMPS gave.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cuda_shim/control.hpp"
#include "dsea/dsea.hpp"
#include "kernels/heat/heat.hpp"
#include "kernels/md/md.hpp"
#include "support/command.hpp"

namespace {

using dsea::Config;
using dsea::RunOutcome;

template <class Program>
RunOutcome run(const std::string& text, const std::string& workers, int ranks, const std::string& backend) {
  const std::string all = text + "[ring]\nworkers = " + workers + "\n";
  return dsea::run_local<Program>(Config::from_text(all), ranks, {.backend = backend});
}

TEST(ShimRings, HeatIsThatOfTheHost) {
  const std::string text =
      "[run]\nsteps = 11\n[grid]\nnx = 7\nny = 20\nnz = 70\n[boundary]\nx = \"periodic\"\ny = \"insulated\"\n"
      "[heat]\nstart = \"random\"\n";
  const std::uint64_t expected = run<heat::Heat>(text, "1", 1, "host").digest();
  shim::reset_launches();
  EXPECT_EQ(run<heat::Heat>(text, "1", 1, "cuda").digest(), expected);
  EXPECT_GT(shim::launch_count(), 0);
  EXPECT_EQ(run<heat::Heat>(text, "3", 2, "cuda").digest(), expected);
  EXPECT_EQ(run<heat::Heat>(text, "2", 3, "cuda").digest(), expected);
}

struct Totals {
  std::size_t step;
  double potential, kinetic, pressure;
};
constexpr Totals periodic[] = {{0, -2387.41653787050, 1941.75000000000, -1.82821186596391},
                               {1, -2387.36363571119, 1941.69651397821, -1.82806577216084},
                               {10, -2394.19218631937, 1948.52201682250, -1.81541639865685}};

TEST(ShimRings, MolecularDynamicsOf864Molecules) {
  const std::string text = "[system]\ndata = \"" + std::string(DSEA_SOURCE_DIR) +
                           "/tests/data/lj864/data.ref864\"\n[boundary]\nx = \"periodic\"\n[run]\nsteps = 10\n"
                           "[output]\nthermo_every = 1\n";
  shim::reset_launches();
  const RunOutcome first = run<dsea::md::Md>(text, "1", 1, "cuda");
  EXPECT_GT(shim::launch_count(), 0);
  ASSERT_EQ(first.rows.size(), 11U);
  for (const Totals& t : periodic) {
    const auto& row = first.rows[t.step];
    EXPECT_NEAR(row.sums[0], t.potential, 1e-12 * std::abs(t.potential)) << t.step;
    EXPECT_NEAR(row.sums[1], t.kinetic, 1e-12 * std::abs(t.kinetic)) << t.step;
    EXPECT_NEAR(row.columns[3], t.pressure, 1e-12 * std::abs(t.pressure)) << t.step;
  }
  EXPECT_EQ(run<dsea::md::Md>(text, "2", 3, "cuda").digest(), first.digest());
}

TEST(ShimRings, ListsMixturesAndThermostatsOnTheDevice) {
  const std::string mixture = "[system]\ndata = \"" + std::string(DSEA_SOURCE_DIR) +
                              "/tests/data/mixture/data.mixture\"\n[lj]\nepsilon = [1.0, 0.75]\nsigma = [1.0, 0.8]\n"
                              "[run]\nsteps = 7\n[output]\nthermo_every = 1\n";
  for (const char* more : {"[ensemble]\nkind = \"langevin\"\ntemperature = 1.5\ndamp = 1\n",
                           "[ensemble]\nkind = \"rescale\"\ntemperature = 1.5\neach_type = true\n"}) {
    const std::string lists = mixture + more + "[neighbour]\nevery = 5\n";
    const RunOutcome first = run<dsea::md::Md>(lists, "1", 1, "cuda");
    EXPECT_EQ(run<dsea::md::Md>(lists, "5", 1, "cuda").digest(), first.digest());
    EXPECT_EQ(run<dsea::md::Md>(lists + "skin = 0\n", "2", 2, "cuda").digest(), first.digest());
    const RunOutcome host = run<dsea::md::Md>(lists, "1", 1, "host");
    for (std::size_t i = 0; i < host.rows.size(); ++i) {
      EXPECT_NEAR(first.rows[i].columns[2], host.rows[i].columns[2], 1e-11) << more << i;
    }
  }
}

TEST(ShimRings, AStepOfASlabIsAHandfulOfLaunches) {
  const std::string text = "[system]\ndata = \"" + std::string(DSEA_SOURCE_DIR) +
                           "/tests/data/lj864/data.ref864\"\n[run]\nsteps = 40\n[output]\nthermo_every = 0\n"
                           "[neighbour]\nevery = 10\n";
  const int slabs = dsea::md::Md(Config::from_text(text)).problem().slabs;
  shim::reset_launches();
  run<dsea::md::Md>(text, "10", 1, "cuda");
  // Pack, force and integrate, two of the largest speed, two small ones; and once in ten steps the list and the
  // sorting.
  EXPECT_LE(static_cast<double>(shim::launch_count()) / (slabs * 41), 9.0);
}

/// The digest that the program prints, as a user would run it.
std::string digest(const std::string& program, const std::string& arguments) {
  const support::TempFolder folder;
  const support::Finished f =
      support::run_command(std::string(DSEA_BIN_DIR) + "/" + program + " " + DSEA_SOURCE_DIR + "/apps/" + program +
                               "/" + arguments + " --device cuda --out " + folder.path(),
                           240);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  return support::digest_of(f.out);
}

TEST(ShimRings, TheProgramsRunWithDeviceCuda) {
  const std::string heat =
      "heat.toml --set grid.nx=8 --set grid.ny=10 --set grid.nz=9 --set run.steps=6 --set ring.workers=2 --ranks ";
  const std::string one_heat = digest("heat", heat + "1");
  EXPECT_EQ(one_heat.size(), 16U);
  EXPECT_EQ(digest("heat", heat + "3"), one_heat);
  const std::string ljmd = "demo.toml --set run.steps=3 --set ring.workers=1 --ranks ";
  const std::string one_ljmd = digest("ljmd", ljmd + "1");
  EXPECT_EQ(one_ljmd.size(), 16U);
  EXPECT_EQ(digest("ljmd", ljmd + "2"), one_ljmd);
}

}  // namespace
