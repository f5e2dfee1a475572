// Runs that are taken up again from what they have written, by ljmd and by LAMMPS.
#include <cmath>
#include <map>

#include "apps/ljmd/output_run.hpp"

namespace dsea::md::test {
namespace {

const std::string pairs = "[lj]\nepsilon = [1.0, 0.8]\nsigma = [1.0, 0.9]\ncutoff = 2.5\n";

/// A run from a file, with the pair law of the mixture.
std::string from(const std::string& start, int steps) {
  return "[system]\n" + start + "[time]\ndt = 0.004\n[run]\nsteps = " + std::to_string(steps) +
         "\n[output]\nthermo_every = 1\n" + pairs;
}

std::string steps(int n) {
  return "[run]\nsteps = " + std::to_string(n) + "\n[output]\nthermo_every = 1\nwrite_data = \"end.data\"\n" + pairs;
}

/// Rows of the table from step `first` of one run, and of a run that began there.
void expect_same_rows(const RunOutcome& whole, const RunOutcome& taken_up, std::size_t first, double tolerance) {
  ASSERT_EQ(whole.rows.size(), first + taken_up.rows.size());
  for (std::size_t step = 0; step < taken_up.rows.size(); ++step) {
    const TableRow& a = whole.rows[first + step];
    const TableRow& b = taken_up.rows[step];
    for (std::size_t column = 0; column < a.columns.size(); ++column) {
      EXPECT_NEAR(b.columns[column], a.columns[column], tolerance * std::max(1.0, std::abs(a.columns[column])))
          << "column " << column << ", step " << step;
    }
  }
}

TEST_F(OutputRun, DataFileTakesUpWhereTheRunEnded) {
  for (const std::string boundary : {"", "[boundary]\ny = \"mirror\"\n",
                                     // the random numbers go on, too
                                     "[ensemble]\nkind = \"langevin\"\ntemperature = 2.0\ndamp = 0.5\n"}) {
    const RunOutcome whole = run("whole", mixture + boundary + steps(45));
    run("first", mixture + boundary + steps(29), 2, 2);  // between two sortings
    const std::string data = "data = \"" + (folder_ / "first/end.data").string() + "\"\n";
    const RunOutcome second = run("second", from(data, 16) + boundary, 2, 1);
    expect_same_rows(whole, second, 29, 1e-11);
  }
}

TEST_F(OutputRun, DataFileHasTheSameBitsForEveryRing) {
  run("one", mixture + steps(21));
  run("six", mixture + steps(21), 3, 2);
  ASSERT_GT(text("one/end.data").size(), 10000U);
  EXPECT_EQ(text("one/end.data"), text("six/end.data"));
  EXPECT_EQ(files("six"), (std::vector<std::string>{"end.data"}));
  run("none", mixture + steps(0), 2, 2);  // no step at all: the start
  EXPECT_NE(text("none/end.data").find("\nVelocities\n"), std::string::npos);
}

TEST_F(OutputRun, DumpTakesUpWhereItWasWritten) {
  for (const std::string forces : {"true", "false"}) {
    const RunOutcome whole = run("whole", mixture + steps(45) + "[ring]\nstream = \"y\"\n");
    run("first", mixture + "[run]\nsteps = 30\n[output]\ndump_every = 29\ndump_forces = " + forces + "\n" + pairs);
    const std::string dump = "dump = \"" + (folder_ / "first/dump.29.lammpstrj").string() + "\"\nmass = [1.0, 2.0]\n";
    expect_same_rows(whole, run("second", from(dump, 16)), 29, 1e-11);
  }
}

TEST_F(OutputRun, LammpsDumpIsAStart) {
  const std::string reference = std::string(DSEA_SOURCE_DIR) + "/tests/data/mixture/";
  const std::string law =
      "[lj]\nepsilon = [1.0, 0.75]\nsigma = [1.0, 0.8]\ncutoff = [2.5, 1.9]\n[lj.1-2]\nepsilon = 0.9\nsigma = 0.88\n"
      "cutoff = 2.3\n[time]\ndt = 0.002\n[run]\nsteps = 90\n[output]\nthermo_every = 90\n";
  const RunOutcome outcome =
      run("out", "[system]\ndump = \"" + reference + "mixture.10.dump\"\nmass = [1.0, 1.7]\n" + law, 2);
  std::ifstream in(reference + "totals.txt");
  std::map<int, std::vector<double>> totals;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    double step = -1, potential = 0, kinetic = 0;
    if (words >> step >> potential >> kinetic) totals[static_cast<int>(step)] = {potential, kinetic};
  }
  ASSERT_EQ(outcome.rows.size(), 2U);
  for (const auto& [row, step] : {std::pair{0, 10}, std::pair{1, 100}}) {
    const std::vector<double>& sums = outcome.rows[static_cast<std::size_t>(row)].sums;
    ASSERT_EQ(totals[step].size(), 2U) << step;
    EXPECT_NEAR(sums[0], totals[step][0], 1e-9 * std::abs(totals[step][0]));
    EXPECT_NEAR(sums[1], totals[step][1], 1e-9 * totals[step][1]);
  }
}

TEST_F(OutputRun, ADumpIsNotOverwrittenByTheRunThatItStarts) {
  run("out", mixture + "[run]\nsteps = 20\n[output]\ndump_every = 10\n" + pairs);
  const std::string dump = "dump = \"" + (folder_ / "out/dump.10.lammpstrj").string() + "\"\nmass = [1.0, 2.0]\n";
  const auto error = [&](const std::string& folder, int every) -> std::string {
    const std::vector<std::string> sets{"run.out=" + (folder_ / folder).string(),
                                        "output.dump_every=" + std::to_string(every)};
    try {
      const Model model(Config::from_text(from(dump, 20), "run.toml", sets));
    } catch (const UsageError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_NE(error("out", 5).find("step 10 would overwrite the start of this run"), std::string::npos)
      << error("out", 5);
  EXPECT_EQ(error("out", 3), "no error");
  EXPECT_EQ(error("other", 5), "no error");
}

TEST_F(OutputRun, ErrorsOfStartsNameFileAndLine) {
  run("out", mixture + "[run]\nsteps = 0\n[output]\ndump_every = 1\nwrite_data = \"end.data\"\n");
  const std::string dump = "dump = \"" + (folder_ / "out/dump.0.lammpstrj").string() + "\"\n";
  const auto error = [&](const std::string& toml) -> std::string {
    try {
      run("again", toml);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::pair<std::string, std::string> cases[] = {
      {"[system]\n" + dump, "has 2 types of molecules, but no masses: give system.mass"},
      {"[system]\n" + dump + "mass = 1.0\ntemperature = 1.0\n",
       "has velocities: remove the temperature, or the velocities"},
      {"[system]\n" + dump + "data = \"x\"\n", "system.data is given too"},
      {"[system]\n" + dump + "lattice = \"fcc\"\n", "system.dump is given too"},
      {"[system]\n" + dump + "density = 0.5\n", "goes with system.lattice, not with system.dump"},
      {"[system]\ndump = \"nothing.dump\"\n", "cannot read the dump nothing.dump"},
  };
  for (const auto& [toml, message] : cases) EXPECT_NE(error(toml).find(message), std::string::npos) << error(toml);
}

TEST_F(OutputRun, LammpsReadsTheDataFile) {
  if (std::system("command -v lmp > /dev/null 2>&1") != 0) GTEST_SKIP() << "lmp (LAMMPS) is not installed";
  const RunOutcome outcome = run("out", mixture + steps(30) + "[ring]\nstream = \"z\"\n", 2, 2);
  const Model model(Config::from_text(mixture));
  const auto n = static_cast<double>(model.start().molecules());
  std::ofstream(folder_ / "in.read") << "units lj\natom_style atomic\nboundary p p p\nread_data out/end.data\n"
                                     << "pair_style lj/cut 2.5\npair_modify shift yes mix arithmetic\n"
                                     << "pair_coeff 1 1 1.0 1.0\npair_coeff 2 2 0.8 0.9\n"
                                     << "timestep 0.004\nfix 1 all nve\n"
                                     << "thermo_modify norm no\n"
                                     << "fix 2 all print 1 \"$(pe:%.17g) $(ke:%.17g) $(press:%.17g)\" file values "
                                     << "screen no title \"\"\nrun 1\n";
  const std::string command = "cd " + folder_.string() +
                              " && OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 "
                              "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 lmp -in in.read -log none > lammps.out 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << text("lammps.out");
  std::istringstream values(text("values"));
  double potential = 0, kinetic = 0, pressure = 0;
  ASSERT_TRUE(values >> potential >> kinetic >> pressure) << text("values") << text("lammps.out");
  const TableRow& last = outcome.rows.back();
  ASSERT_EQ(last.step, 30);
  EXPECT_NEAR(last.sums[0], potential, 1e-12 * std::abs(potential));
  EXPECT_NEAR(last.sums[1], kinetic, 1e-12 * kinetic);
  EXPECT_NEAR(last.columns[3], pressure, 1e-12 * std::max(1.0, std::abs(pressure)));
  EXPECT_NEAR(last.columns[1] * n, potential, 1e-12 * std::abs(potential));
  // LAMMPS goes on from there as ljmd does.
  const std::string data = "data = \"" + (folder_ / "out/end.data").string() + "\"\n";
  const RunOutcome next = run("next", from(data, 1));
  ASSERT_TRUE(values >> potential >> kinetic >> pressure) << text("values");
  EXPECT_NEAR(next.rows.back().sums[0], potential, 1e-12 * std::abs(potential));
  EXPECT_NEAR(next.rows.back().sums[1], kinetic, 1e-12 * kinetic);
}

}  // namespace
}  // namespace dsea::md::test
