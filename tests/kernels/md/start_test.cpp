// Settings, lattice, velocities and the cutting of the start into slabs.
#include "kernels/md/start.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "dsea/base/error.hpp"
#include "dsea/base/log.hpp"
#include "kernels/md/model.hpp"
#include "kernels/md/philox.hpp"
#include "kernels/md/velocity_draw.hpp"

namespace dsea::md {
namespace {

const std::string lattice =
    "[system]\nlattice = \"fcc\"\ncells = [4, 5, 6]\ndensity = 0.5\ntemperature = 1.5\n[run]\nseed = 3\n";

Start start_of(const std::string& text) {
  const Settings settings(Config::from_text(text, "run.toml"));
  Start start(settings);
  start.cut(2.5, 2.5);
  return start;
}

/// What a whole run's set-up says.

std::string error_of(const std::string& text) {
  try {
    Model model(Config::from_text(text, "run.toml"));
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

std::map<std::int64_t, StartMolecule> all(const Start& start) {
  std::map<std::int64_t, StartMolecule> result;
  for (int i = 0; i < start.grid().slabs(); ++i) {
    for (const auto& m : start.slab(i)) {
      EXPECT_TRUE(result.emplace(m.id, m).second);
      EXPECT_EQ(start.grid().x.part(m.position.x), i);
    }
  }
  return result;
}

TEST(Philox, KnownAnswers) {  // published with the method
  EXPECT_EQ(philox4x32({{0, 0, 0, 0}}, 0, 0), (Philox4{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  constexpr std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({{f, f, f, f}}, f, f), (Philox4{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  EXPECT_EQ(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
            (Philox4{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST(Philox, NormalNumbersAreNormal) {
  constexpr int n = 100000;
  double sum[3] = {}, squares[3] = {}, product = 0;
  for (int i = 0; i < n; ++i) {
    const Normal3 normal = philox_normal3(9, static_cast<std::uint64_t>(i), 0);
    const double g[] = {normal.x, normal.y, normal.z};
    for (std::size_t k = 0; k < 3; ++k) {
      sum[k] += g[k];
      squares[k] += g[k] * g[k];
    }
    product += g[0] * g[1] + g[1] * g[2];
  }
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(sum[k] / n, 0, 0.02);
    EXPECT_NEAR(squares[k] / n, 1, 0.02);
  }
  EXPECT_NEAR(product / n, 0, 0.02);
}

TEST(Lattice, HasDensityTemperatureAndNoMomentum) {
  const Start start = start_of(lattice);
  const auto molecules = all(start);
  constexpr int n = 4 * 4 * 5 * 6;
  ASSERT_EQ(molecules.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(start.molecules(), n);
  EXPECT_NEAR(n / start.grid().volume(), 0.5, 1e-14);
  double momentum[3] = {}, squares = 0;
  for (const auto& [id, m] : molecules) {
    momentum[0] += m.velocity.x;
    momentum[1] += m.velocity.y;
    momentum[2] += m.velocity.z;
    squares += m.velocity.x * m.velocity.x + m.velocity.y * m.velocity.y + m.velocity.z * m.velocity.z;
  }
  for (double p : momentum) EXPECT_NEAR(p, 0, 1e-11);
  EXPECT_NEAR(squares / (3 * n - 3), 1.5, 1e-14);
}

TEST(Lattice, VelocitiesDoNotDependOnTheNumberOfThreads) {
  const std::int64_t n = 20'001;  // five parts
  const auto molecule = [](std::int64_t i) { return VelocityDraw::Molecule{3 * i + 1, i % 2 == 0 ? 2.5 : 1.0}; };
  const VelocityDraw draw(9, 0.7, n, molecule);
  double momentum[3] = {}, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [id, mass] = molecule(i);
    const auto v = draw(id, mass);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      momentum[axis] += mass * v[axis];
      squares += mass * v[axis] * v[axis];
    }
  }
  for (double p : momentum) EXPECT_NEAR(p, 0, 1e-9);
  EXPECT_NEAR(squares / static_cast<double>(3 * n - 3), 0.7, 1e-13);
#if defined(_OPENMP)
  const int threads = omp_get_max_threads();
  for (int other : {1, 2, 3, 7}) {
    omp_set_num_threads(other);
    EXPECT_EQ(VelocityDraw(9, 0.7, n, molecule)(4, 1.0), draw(4, 1.0)) << other << " threads";
  }
  omp_set_num_threads(threads);
#endif
}

TEST(Lattice, ALongStartIsAnnounced) {
  Config config = Config::from_text(
      "[system]\nlattice = \"fcc\"\ncells = [100, 160, 160]\ndensity = 0.5\ntemperature = 1.5\n", "run.toml");
  std::ostringstream text;
  config.set_log(Log(LogLevel::info, text));
  Start start{Settings(config)};
  start.cut(2.5, 2.6);
  EXPECT_EQ(text.str(), "");
  start.slab(0);
  EXPECT_EQ(text.str(), "info: making the start of 10240000 molecules\n");
}

TEST(Lattice, IsTheSameAlongEveryStreamAxis) {
  const auto x = all(start_of(lattice));
  const auto z = all(start_of(lattice + "[ring]\nstream = \"longest\"\n"));  // z, x, y
  ASSERT_EQ(x.size(), z.size());
  for (const auto& [id, m] : x) {
    const StartMolecule& o = z.at(id);
    EXPECT_EQ(m.position.x, o.position.y);
    EXPECT_EQ(m.position.y, o.position.z);
    EXPECT_EQ(m.position.z, o.position.x);
    EXPECT_EQ(m.velocity.x, o.velocity.y);
    EXPECT_EQ(m.velocity.z, o.velocity.x);
  }
}

TEST(Lattice, SeedAndSimpleCubic) {
  EXPECT_NE(all(start_of(lattice)).at(1).velocity.x, all(start_of(lattice + "\n[time]\ndt=0.1")).at(2).velocity.x);
  std::string other = lattice;
  other.replace(other.find("seed = 3"), 8, "seed = 4");
  EXPECT_NE(all(start_of(lattice)).at(1).velocity.x, all(start_of(other)).at(1).velocity.x);
  other = lattice;
  other.replace(other.find("fcc"), 3, "sc");
  EXPECT_EQ(all(start_of(other)).size(), 120U);
}

TEST(Lattice, FullestSlabIsCounted) {
  const Start start = start_of(lattice + "[ring]\nstream = \"y\"\n");
  std::size_t most = 0;
  for (int i = 0; i < start.grid().slabs(); ++i) most = std::max(most, start.slab(i).size());
  EXPECT_EQ(start.most_in_a_slab(), static_cast<std::int64_t>(most));
  EXPECT_EQ(slab_capacity(1000, 0.25, 1'000'000), 1250 + 189 + 32);
  EXPECT_EQ(slab_capacity(1000, 0.25, 1100), 1100);
  EXPECT_EQ(slab_capacity(0, 0.25, 0), 1);
  EXPECT_THROW(slab_capacity(1 << 30, 0.25, std::int64_t{1} << 40), UsageError);
}

Start cut(const Config& config) {
  Start start{Settings(config)};
  start.cut(2.5, 2.5);
  return start;
}

class DataStart : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("dsea_start_test_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& velocities, const std::string& types = "1") {
    std::ofstream(folder_ / "some.data") << "x\n2 atoms\n"
                                         << types
                                         << " atom types\n0 6 xlo xhi\n0 7 ylo yhi\n0 8 zlo zhi\nMasses\n\n1 4\n"
                                         << (types == "2" ? "2 1\n" : "")
                                         << "\nAtoms\n\n1 1 6 0 8 0 0 -1\n2 1 1 1 1 0 0 0\n"
                                         << velocities;
  }
  std::string error(const std::string& more = "") const {
    try {
      Model model(config(more));
    } catch (const UsageError& e) {
      return e.what();
    }
    return "no error";
  }
  Config config(const std::string& more = "") const {
    std::ofstream(folder_ / "run.toml") << "[system]\ndata = \"some.data\"\n" << more;
    return Config::from_file((folder_ / "run.toml").string());
  }
  std::filesystem::path folder_;
};

TEST_F(DataStart, PathIsRelativeToTheConfigurationAndTheSeamHasOneName) {
  write("\nVelocities\n\n1 1 2 3\n2 -1 -2 -3\n");
  Start start{Settings(config("[boundary]\nz = \"mirror\"\n"))};
  start.cut(2.5, 2.5);
  EXPECT_EQ(start.masses(), std::vector<double>{4});
  const auto molecules = all(start);
  const StartMolecule& m = molecules.at(1);
  EXPECT_EQ(m.position.x, 0);  // 6 on a periodic axis
  EXPECT_EQ(tag_image(m.position.tag, 0), 1);
  EXPECT_EQ(m.position.y, 0);
  EXPECT_EQ(m.position.z, 8);  // on a wall
  EXPECT_EQ(tag_image(m.position.tag, 2), -1);
  EXPECT_EQ(m.velocity.z, 3);
}

TEST_F(DataStart, VelocitiesAreDrawnOnDemand) {
  write("");
  const auto rest = all(cut(config()));
  EXPECT_EQ(rest.at(1).velocity.x, 0);
  const auto moving = all(cut(config("temperature = 2\n")));
  const Velocity& a = moving.at(1).velocity;
  const Velocity& b = moving.at(2).velocity;
  EXPECT_NEAR(a.x + b.x, 0, 1e-15);
  EXPECT_NEAR(4 * (a.x * a.x + a.y * a.y + a.z * a.z + b.x * b.x + b.y * b.y + b.z * b.z) / 3, 2, 1e-14);
  write("\nVelocities\n\n1 1 2 3\n2 -1 -2 -3\n");
  EXPECT_NE(error("temperature = 2\n").find("has velocities"), std::string::npos);
}

TEST_F(DataStart, MoleculesAtTheSamePlaceAreNamed) {
  const auto write_three = [this](const std::string& last) {
    std::ofstream(folder_ / "some.data") << "x\n3 atoms\n1 atom types\n0 6 xlo xhi\n0 7 ylo yhi\n0 8 zlo zhi\n"
                                         << "Atoms\n\n17 1 6 1 1\n3 1 1 1 1\n"
                                         << last << "\n";
  };
  write_three("5 1 0 1 1");  // the other name of 6
  EXPECT_NE(error().find("run.toml:2: key 'system.data': the data file"), std::string::npos) << error();
  EXPECT_NE(error().find("some.data has molecules 5 and 17 at the same place"), std::string::npos) << error();
  EXPECT_EQ(error("[boundary]\nx = \"mirror\"\n"), "no error");
  write_three("5 1 1 1 1.0000000000000002");
  EXPECT_EQ(error(), "no error");
}

TEST_F(DataStart, ACutFileIsAWarningThatNamesKeyFileAndLine) {
  write("\nVelocities\n\n1 1 2 3\n2 -1 -2 -3");
  Config config = this->config();
  std::ostringstream text;
  config.set_log(Log(LogLevel::info, text));
  const Start start{Settings(config)};
  EXPECT_NE(text.str().find("warning: " + (folder_ / "run.toml").string() + ":2: key 'system.data': " +
                            (folder_ / "some.data").string() + ":19: the last line of section Velocities"),
            std::string::npos)
      << text.str();
}

TEST_F(DataStart, MassesOfTheConfigurationWin) {
  write("", "2");
  EXPECT_EQ(cut(config()).masses(), (std::vector<double>{4, 1}));
  EXPECT_EQ(cut(config("mass = [2, 3]\n")).masses(), (std::vector<double>{2, 3}));
  EXPECT_NE(error("mass = [2, 3, 4]\n").find("has 3 numbers, but the data file"), std::string::npos);
}

TEST(Settings, WrongValuesAreNamed) {
  const std::pair<std::string, std::string> cases[] = {
      {lattice + "[lj]\ncutoff = 0\n", "run.toml:9: "},
      {lattice + "[lj]\ncutoff = -1.0\n", "lj.cutoff"},
      {lattice + "[lj]\ncutoff = \"far\"\n", "lj.cutoff"},
      {lattice + "[lj]\nsigma = 0\n", "lj.sigma"},
      {lattice + "[lj]\nepsilon = -1\n", "lj.epsilon"},
      {lattice + "[lj]\nshift = 1\n", "lj.shift"},
      {lattice + "[lj]\ncutoff = 8.5\n",
       "run.toml:3: key 'system.cells': the box is too small: its periodic axis x is 8 long"},
      {lattice + "[time]\ndt = 0\n", "time.dt"},
      {lattice + "[time]\ndt = inf\n", "time.dt"},
      {lattice + "[time]\ndt = 1e9\n", "time.dt': 1000000000 is impossible"},
      {lattice + "[ensemble]\nkind = \"langevin\"\n", "ensemble.temperature': is missing"},
      {lattice + "[ensemble]\nkind = \"langevin\"\ntemperature = 1\n", "ensemble.damp': is missing"},
      {lattice + "[ensemble]\nkind = \"langevin\"\ntemperature = 1\ndamp = 0\n", "ensemble.damp"},
      {lattice + "[ensemble]\nkind = \"rescale\"\ntemperature = -1\n", "ensemble.temperature"},
      {lattice + "[ensemble]\nkind = \"rescale\"\ntemperature = 1\ndamp = 1\n", "goes with \"langevin\""},
      {lattice + "[ensemble]\ntemperature = 1\n", "goes with a thermostat"},
      {lattice + "[ensemble]\nkind = \"nose-hoover\"\n", "needs a sum over all molecules of the same step"},
      {lattice + "[gravity]\nz = -1\n", "fall for ever"},
      {lattice + "[gravity]\nz = [-1, 2]\n[boundary]\nz = \"mirror\"\n", "has 2 numbers for 1 types"},
      {lattice + "[neighbour]\nevery = 0\n", "neighbour.every"},
      {lattice + "[ring]\nslabs = \"given\"\n", "needs ring.slab_widths"},
      {lattice + "[ring]\nslab_widths = [4, 4]\n", "goes with ring.slabs = \"given\""},
      {lattice + "[ring]\nslabs = \"given\"\nslab_widths = [4, 3]\n", "add up to 7, but the box is 8 long"},
      {lattice + "[ring]\nslabs = \"given\"\nslab_widths = [6.5, 1.5]\n", "slab 1 is 1.5 wide, but the cut-off"},
      {lattice + "[ring]\nslabs = \"given\"\nslab_widths = [9, -1]\n", "must be positive"},
      {lattice + "[neighbour]\nevery = 300\n", "need a box of at least"},
      {lattice + "[neighbour]\nskin = -0.1\n", "neighbour.skin"},
      {"[system]\nmass = []\n" + lattice.substr(9), "has no number"},
      {lattice + "[output]\nwrite_data = \"thermo.csv\"\n", "ends with .data"},
      {lattice + "[lj]\ncutoff = -2.0\n", "key 'lj.cutoff': must be positive, found -2.0"},
      {lattice + "[wca]\n[morse]\n", "a run has one pair law"},
      {lattice + "[lj]\nepsilon = [1, 2]\n", "has 2 numbers for 1 type"},
      {lattice + "[morse]\nalpha = 0\n", "morse.alpha"},
      {lattice + "[ensemble]\nkind = \"nvf\"\n", "nve"},
      {lattice + "[boundary]\nx = \"open\"\n", "boundary.x"},
      {lattice + "[ring]\nstream = \"w\"\n", "ring.stream"},
      {"[system]\n", "the start is missing"},
      {lattice + "[time]\n[lj]\n[system.data]\n", "system.data"},
      {"[system]\ndata = \"a\"\nlattice = \"fcc\"\n", "run.toml:3: "},
      {"[system]\ndata = \"a\"\ndensity = 1\n", "goes with system.lattice"},
      {"[system]\ndata = \"a.data\"\n", "cannot read the data file a.data"},
      {"[grid]\nnx = 1\n[heat]\ndt = 1\n", "unknown sections [grid], [heat]: is this file for another program?"},
      {"[system]\nlattice = \"bcc\"\n", "system.lattice"},
      {"[system]\nlattice = \"fcc\"\n", "system.cells"},
      {"[system]\nlattice = \"fcc\"\ncells = [1, 2]\n", "needs three numbers"},
      {"[system]\nlattice = \"fcc\"\ncells = [1, 2, 0]\n", "system.cells"},
      {"[system]\nlattice = \"fcc\"\ncells = [999999, 999999, 2]\ndensity = 1\ntemperature = 1\n",
       "run.toml:3: key 'system.cells': a lattice of"},
      {"[system]\nlattice = \"fcc\"\ncells = [1, 2, 3]\n", "system.density"},
      {"[system]\nlattice = \"fcc\"\ncells = [1, 2, 3]\ndensity = 0\n", "system.density"},
      {"[system]\nlattice = \"fcc\"\ncells = [1, 2, 3]\ndensity = 1\n", "system.temperature"},
      {"[system]\nlattice = \"fcc\"\ncells = [1, 2, 3]\ndensity = 1\ntemperature = -1\n", "system.temperature"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(error_of(text).find(part), std::string::npos) << text << error_of(text);
}

}  // namespace
}  // namespace dsea::md
