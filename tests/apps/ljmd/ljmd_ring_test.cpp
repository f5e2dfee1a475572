// Molecular dynamics through the ring: reference values and digests, whatever the ring looks like.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "dsea/dsea.hpp"
#include "kernels/md/md.hpp"
#include "support/pairwise.hpp"

namespace {

using dsea::Config;
using dsea::DeviceOptions;
using dsea::RunOutcome;

RunOutcome run(const std::string& text, int ranks, const DeviceOptions& device = {.backend = "host"}) {
  return dsea::run_local<dsea::md::Md>(Config::from_text(text), ranks, device);
}

std::string ring(const std::string& workers, const std::string& slots = "\"auto\"", const std::string& stream = "x") {
  return "[ring]\nworkers = " + workers + "\nslots = " + slots + "\nstream = \"" + stream + "\"\n";
}

std::string reference(const std::string& name, const std::string& x, int steps, int every) {
  return "[system]\ndata = \"" + std::string(DSEA_SOURCE_DIR) + "/tests/data/lj864/data." + name +
         "\"\n[boundary]\nx = \"" + x + "\"\n[run]\nsteps = " + std::to_string(steps) +
         "\n[output]\nthermo_every = " + std::to_string(every) + "\n";
}

struct Totals {
  int step;
  double potential, kinetic, pressure;
};
constexpr Totals periodic[] = {{0, -2387.41653787050, 1941.75000000000, -1.82821186596391},
                               {1, -2387.36363571119, 1941.69651397821, -1.82806577216084},
                               {10, -2394.19218631937, 1948.52201682250, -1.81541639865685},
                               {100, -2195.72046244950, 1749.97010386428, 0.649090663848046}};
constexpr Totals mirror[] = {{0, -2.2541581645291344e+03, 1.9417499999999977e+03, -1.6760849409556520e+00},
                             {1, -2.2540596726375356e+03, 1.9416512856537338e+03, -1.6760094885721259e+00},
                             {10, -2.2604855883687446e+03, 1.9480661340715792e+03, -1.6643736447383144e+00},
                             {100, -2.0836768661071342e+03, 1.7711734790847329e+03, 7.7500257058680089e-01}};

void expect_totals(const RunOutcome& outcome, const Totals (&totals)[4]) {
  for (const Totals& t : totals) {
    ASSERT_GT(outcome.rows.size(), static_cast<std::size_t>(t.step));
    const auto& row = outcome.rows[static_cast<std::size_t>(t.step)];
    ASSERT_EQ(row.step, t.step);
    const double tolerance = t.step <= 10 ? 1e-12 : 1e-10;
    EXPECT_NEAR(row.sums[0], t.potential, tolerance * std::abs(t.potential)) << t.step;
    EXPECT_NEAR(row.sums[1], t.kinetic, tolerance * std::abs(t.kinetic)) << t.step;
    EXPECT_NEAR(row.columns[0], 2 * t.kinetic / (3 * 864 - 3), tolerance * 1.5) << t.step;
    EXPECT_NEAR(row.columns[3], t.pressure, tolerance * std::max(1.0, std::abs(t.pressure))) << t.step;
  }
}

TEST(LjmdRing, ReferenceTotalsForEveryRing) {
  for (const auto& [name, boundary, totals] :
       {std::tuple{"ref864", "periodic", &periodic}, std::tuple{"mirror864", "mirror", &mirror}}) {
    for (const char* stream : {"x", "z"}) {
      const std::string text = reference(name, boundary, 100, 1);
      const RunOutcome first = run(text + ring("1", "\"auto\"", stream), 1);
      SCOPED_TRACE(std::string(name) + " along " + stream);
      expect_totals(first, *totals);
      for (const auto& [ranks, workers] : {std::pair{2, "1"}, std::pair{1, "3"}, std::pair{3, "2"}}) {
        const RunOutcome other = run(text + ring(workers, "\"fewest\"", stream), ranks);
        EXPECT_EQ(other.digest(), first.digest()) << ranks << " ranks, " << workers << " workers";
        ASSERT_EQ(other.rows.size(), first.rows.size());
        for (std::size_t i = 0; i < first.rows.size(); ++i) {
          EXPECT_EQ(other.rows[i].sums, first.rows[i].sums) << "row " << i;  // to the last bit
        }
      }
    }
  }
}

/// A hot gas, so that many molecules change slabs; `slabs` along z.
std::string gas(int slabs, const std::string& boundary, int steps) {
  const int cells = static_cast<int>(std::ceil(slabs * 2.5 / 2.0));  // fcc cells of edge 2
  return "[system]\nlattice = \"fcc\"\ncells = [2, 3, " + std::to_string(cells) +
         "]\ndensity = 0.5\ntemperature = 6\n[run]\nsteps = " + std::to_string(steps) +
         "\n[time]\ndt = 0.004\n[boundary]\nz = \"" + boundary + "\"\n";
}

/// What is run in the ring: pair laws, thermostats, sorting in each or in some steps.
const char* const kinds_of_runs[] = {
    "[neighbour]\nevery = 1\n",
    "[neighbour]\nevery = 3\n[ensemble]\nkind = \"langevin\"\ntemperature = 5\ndamp = 0.5\n",
    "[neighbour]\nevery = 4\n[ensemble]\nkind = \"rescale\"\ntemperature = 5\neach_type = true\n",
    "[neighbour]\nevery = 2\n[wca]\n",
    "[morse]\ndepth = 0.7\nalpha = 4\n",
};

class LjmdCover : public testing::TestWithParam<int> {};

/// Ranks, workers, slots, threads and streams, instruction set, lists or none: a pairwise cover for every number of
/// slabs, each of which runs another kind of run.
TEST_P(LjmdCover, DigestDoesNotDependOnTheRing) {
  const int slabs = GetParam();
  const auto cover = dsea::test::pairwise({5, 8, 3, 2, 3, 2, 3}, static_cast<unsigned>(slabs));
  EXPECT_GE(cover.size(), 40U);
  const char* const slots[] = {"\"auto\"", "\"fewest\"", "40"};
  const char* const skins[] = {"0.3", "0", "0.05"};  // lists; none; lists that do not hold all for long
  int number = 0;
  for (const char* boundary : {"periodic", "mirror"}) {
    const std::string kind = kinds_of_runs[(slabs + number) % 5];
    const auto text = [&](const std::string& ring, const char* skin) {
      std::string t = gas(slabs, boundary, 13) + kind + ring;
      const std::size_t section = t.find("[neighbour]\n");
      if (section == std::string::npos) return t + "[neighbour]\nskin = " + skin + "\n";
      return t.insert(section + 12, std::string("skin = ") + skin + "\n");
    };
    const RunOutcome first = run(text(ring("1", "\"auto\"", "z"), "0"), 1);
    for (std::size_t i = static_cast<std::size_t>(number); i < cover.size(); i += 2) {
      const auto& c = cover[i];
      DeviceOptions device{.backend = "host"};
      device.threads = c[3] + 1;
      device.async_streams = c[4] > 0;
      device.delay_seed = c[4] > 1 ? 11 : 0;
      if (c[5] == 0) device.isa = dsea::Isa::baseline;
      const RunOutcome other =
          run(text(ring(std::to_string(c[1] + 1), slots[c[2]], "z"), skins[c[6]]), c[0] + 1, device);
      EXPECT_EQ(other.digest(), first.digest())
          << kind << slabs << " slabs, " << boundary << ", " << c[0] + 1 << " ranks x " << c[1] + 1
          << " workers, slots " << slots[c[2]] << ", threads " << c[3] + 1 << ", streams " << c[4] << ", isa " << c[5]
          << ", skin " << skins[c[6]];
      if (HasFailure()) return;
    }
    ++number;
  }
}
INSTANTIATE_TEST_SUITE_P(Slabs, LjmdCover, testing::Values(1, 2, 3, 4, 7));

TEST(LjmdRing, TakingUpWhereStepsEndMakesNoDifference) {
  // The closing pass of 0 steps changes nothing, so 0 steps give the digest of the start.
  const std::string text = gas(3, "periodic", 0);
  EXPECT_EQ(run(text + ring("1"), 1).digest(), run(text + ring("2"), 2).digest());
}

TEST(LjmdRing, EnergyIsConserved) {
  const RunOutcome outcome =
      run("[system]\nlattice = \"fcc\"\ncells = [5, 5, 5]\ndensity = 0.5\ntemperature = 1.5\n[run]\nsteps = 400\n"
          "[output]\nthermo_every = 100\n" +
              ring("2"),
          1);
  ASSERT_EQ(outcome.rows.size(), 5U);
  for (const auto& row : outcome.rows) EXPECT_NEAR(row.columns[2], outcome.rows[0].columns[2], 5e-4);
}

TEST(LjmdRing, EnergyOfTheFccStart) {  // N = 4000; known from an independent program
  const RunOutcome outcome =
      run("[system]\nlattice = \"fcc\"\ncells = [10, 10, 10]\ndensity = 0.5\ntemperature = 1.5\n[run]\nsteps = 0\n"
          "[output]\nthermo_every = 1\n",
          1);
  ASSERT_EQ(outcome.rows.size(), 1U);
  EXPECT_NEAR(outcome.rows[0].columns[2], -0.438671514, 1e-8);
}

TEST(LjmdRing, NoiseDoesNotDependOnTheStreamAxis) {
  const std::string text =
      gas(4, "periodic", 60) +
      "[ensemble]\nkind = \"langevin\"\ntemperature = 5\ndamp = 0.5\n[output]\nthermo_every = 20\n";
  const RunOutcome along_z = run(text + ring("1", "\"auto\"", "z"), 1);
  for (const char* stream : {"x", "y"}) {
    const RunOutcome other = run(text + ring("1", "\"auto\"", stream), 1);
    ASSERT_EQ(other.rows.size(), along_z.rows.size());
    for (std::size_t i = 0; i < other.rows.size(); ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(other.rows[i].columns[k], along_z.rows[i].columns[k], 1e-8) << stream << ", row " << i << ", " << k;
      }
    }
  }
}

/// A film of liquid in the first third of a box along x, and nothing beyond it.
class Film : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream out(file_);
    constexpr int nx = 8, n = 5;
    out << "film\n" << nx * n * n << " atoms\n1 atom types\n0 27 xlo xhi\n0 5.6 ylo yhi\n0 5.6 zlo zhi\n\nAtoms\n\n";
    for (int i = 0; i < nx * n * n; ++i) {
      out << i + 1 << " 1 " << 0.5 + 1.12 * (i / (n * n)) << " " << 1.12 * (i / n % n) << " " << 1.12 * (i % n) << "\n";
    }
  }
  void TearDown() override { std::filesystem::remove(file_); }

  RunOutcome run_with(const std::string& slabs, int ranks, int workers) const {
    return run("[system]\ndata = \"" + file_ + "\"\ntemperature = 1.2\n[time]\ndt = 0.004\n" + "[boundary]\nx = \"" +
                   boundary_ + "\"\n[run]\nsteps = 37\n[output]\nthermo_every = 1\n" +
                   "[ring]\nworkers = " + std::to_string(workers) + "\n" + slabs,
               ranks);
  }

  std::string file_ =
      (std::filesystem::temp_directory_path() / ("dsea_film_" + std::to_string(::getpid()) + ".data")).string();
  std::string boundary_ = "periodic";
};

TEST_F(Film, IsTheSameWhateverTheWidthsOfItsSlabs) {
  const std::string widths = "slabs = \"given\"\nslab_widths = [3, 3.1, 9.9, 3, 8]\n";
  for (const char* boundary : {"periodic", "mirror"}) {
    boundary_ = boundary;
    const RunOutcome equal = run_with("", 1, 1);  // with slabs that have no molecule
    for (const std::string& slabs : {std::string("slabs = \"balanced\"\n"), widths}) {
      const RunOutcome first = run_with(slabs, 1, 1);
      EXPECT_NE(first.digest(), equal.digest()) << "molecules are in another order, if slabs are others";
      ASSERT_EQ(first.rows.size(), equal.rows.size());
      for (std::size_t i = 0; i < equal.rows.size(); ++i) {
        for (std::size_t k = 0; k < equal.rows[i].columns.size(); ++k) {
          EXPECT_NEAR(first.rows[i].columns[k], equal.rows[i].columns[k], 1e-9) << "step " << i << ", column " << k;
        }
      }
      for (const auto& [ranks, workers] : {std::pair{1, 4}, std::pair{3, 2}, std::pair{5, 1}, std::pair{2, 8}}) {
        EXPECT_EQ(run_with(slabs, ranks, workers).digest(), first.digest()) << ranks << " x " << workers << slabs;
      }
    }
  }
}

TEST(LjmdRing, RunawayMoleculeEndsTheRun) {
  try {
    run(gas(4, "periodic", 50) + "[lj]\nepsilon = 1e6\n" + ring("2"), 2);
    FAIL() << "no error";
  } catch (const dsea::RunError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("molecule "), std::string::npos) << what;
    EXPECT_NE(what.find("slab "), std::string::npos) << what;
    EXPECT_NE(what.find("step "), std::string::npos) << what;
  }
}

TEST(LjmdRing, FullSlabIsNamed) {  // the molecules of both outer slabs, which do not interact, meet in the middle one
  const auto file = std::filesystem::temp_directory_path() / ("dsea_full_slab_" + std::to_string(::getpid()) + ".data");
  constexpr int n = 600;
  {
    std::ofstream out(file);
    out << "x\n" << n << " atoms\n1 atom types\n0 9 xlo xhi\n0 6 ylo yhi\n0 6 zlo zhi\n\nAtoms\n\n";
    for (int i = 0; i < n; ++i) {
      out << i + 1 << " 1 " << (i % 2 == 0 ? 2.8 : 6.2) << " " << 6.0 * i / n << " " << 0.07 * (i % 80) << "\n";
    }
    out << "\nVelocities\n\n";
    for (int i = 0; i < n; ++i) out << i + 1 << " " << (i % 2 == 0 ? 50 : -50) << " 0 0\n";
  }
  const std::string text = "[system]\ndata = \"" + file.string() +
                           "\"\nspare = 0.0\n[lj]\nepsilon = 0.0\n[boundary]\nx = \"mirror\"\n[time]\ndt = 0.01\n";
  try {
    run(text + "[run]\nsteps = 5\n" + ring("1"), 1);
    ADD_FAILURE() << "no error";
  } catch (const dsea::RunError& e) {
    const std::string what = e.what();
    for (const char* part : {"position", "slab 1", "600", "440"}) EXPECT_NE(what.find(part), std::string::npos) << what;
  }
  std::filesystem::remove(file);
}

}  // namespace
