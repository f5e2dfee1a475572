// Long runs against what is known: equilibrium averages, conservation of energy, thermostats, gravity.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dsea/dsea.hpp"
#include "kernels/md/md.hpp"

namespace {

using dsea::Config;
using dsea::RunOutcome;

RunOutcome run(const std::string& text, int ranks = 1) {
  return dsea::run_local<dsea::md::Md>(Config::from_text(text), ranks, {.backend = "host"});
}

std::string fcc(int cells, double density, double temperature) {
  const std::string n = std::to_string(cells);
  return "[system]\nlattice = \"fcc\"\ncells = [" + n + ", " + n + ", " + n +
         "]\ndensity = " + std::to_string(density) + "\ntemperature = " + std::to_string(temperature) + "\n";
}

struct Mean {
  double value = 0;
  double error = 0;
};

/// Mean and its error from `blocks` block averages of a column, from `first` on.
Mean block_mean(const RunOutcome& outcome, std::size_t column, std::size_t first, std::size_t blocks = 16) {
  const std::size_t size = (outcome.rows.size() - first) / blocks;
  std::vector<double> means;
  for (std::size_t b = 0; b < blocks; ++b) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += outcome.rows[first + b * size + i].columns[column];
    means.push_back(sum / static_cast<double>(size));
  }
  Mean m;
  for (double x : means) m.value += x / static_cast<double>(blocks);
  double squares = 0;
  for (double x : means) squares += (x - m.value) * (x - m.value);
  m.error = std::sqrt(squares / static_cast<double>(blocks * (blocks - 1)));
  return m;
}

struct StatePoint {
  double density, temperature;
  Mean potential, pressure;
};

class Equilibrium : public testing::TestWithParam<StatePoint> {};

/// Known from long runs of 4000 molecules with another program (Langevin's thermostat).
TEST_P(Equilibrium, EnergyAndPressureOfTheFluid) {
  const StatePoint& p = GetParam();
  const RunOutcome outcome = run(fcc(6, p.density, p.temperature) + "[run]\nsteps = 16000\n[time]\ndt = 0.004\n" +
                                 "[ensemble]\nkind = \"langevin\"\ntemperature = " + std::to_string(p.temperature) +
                                 "\ndamp = 0.5\n[output]\nthermo_every = 20\n");
  ASSERT_EQ(outcome.rows.size(), 801U);
  const Mean temperature = block_mean(outcome, 0, 160);
  const Mean potential = block_mean(outcome, 1, 160);
  const Mean pressure = block_mean(outcome, 3, 160);
  const auto within = [](const Mean& mean, const Mean& reference) {
    const double error = std::sqrt(mean.error * mean.error + reference.error * reference.error);
    EXPECT_LT(error, 0.05);  // the runs say something
    EXPECT_NEAR(mean.value, reference.value, 3 * error);
  };
  within(temperature, {p.temperature, 0.002 * p.temperature});
  within(potential, p.potential);
  within(pressure, p.pressure);
}
INSTANTIATE_TEST_SUITE_P(StatePoints, Equilibrium,
                         testing::Values(StatePoint{0.5, 1.5, {-2.7878, 0.0007}, {0.6773, 0.0017}},
                                         StatePoint{0.7, 1.0, {-4.1491, 0.0004}, {0.5277, 0.0030}},
                                         StatePoint{0.8, 0.8, {-4.8741, 0.0005}, {0.6747, 0.0040}}));

TEST(Conservation, EnergyDriftsAsLittleAsVelocityVerletLetsIt) {
  // 4000 molecules from a lattice: the energy changes by some 1e-4 while the lattice melts, hardly at all after that.
  const RunOutcome outcome = run(fcc(10, 0.5, 1.5) + "[run]\nsteps = 3000\n[output]\nthermo_every = 50\n");
  ASSERT_EQ(outcome.rows.size(), 61U);
  const double start = outcome.rows.front().columns[2];
  EXPECT_NEAR(start, -0.438671514, 2e-7);
  EXPECT_NEAR(outcome.rows.back().columns[2], start, 2e-4);
  double mean = 0, squares = 0;
  constexpr std::size_t first = 20;
  const auto n = static_cast<double>(outcome.rows.size() - first);
  for (std::size_t i = first; i < outcome.rows.size(); ++i) mean += outcome.rows[i].columns[2] / n;
  for (std::size_t i = first; i < outcome.rows.size(); ++i) {
    squares += (outcome.rows[i].columns[2] - mean) * (outcome.rows[i].columns[2] - mean) / n;
  }
  EXPECT_LT(std::sqrt(squares), 1.5e-5);
}

TEST(Conservation, MorseAndWcaConserveEnergy) {
  for (const char* law : {"[morse]\ndepth = 1\nalpha = 5\nr0 = 1.1\n", "[wca]\nepsilon = 1\nsigma = 1\n"}) {
    const RunOutcome outcome = run(fcc(5, 0.6, 1.0) + law + "[run]\nsteps = 600\n[output]\nthermo_every = 200\n");
    for (const auto& row : outcome.rows) EXPECT_NEAR(row.columns[2], outcome.rows[0].columns[2], 1e-3) << law;
  }
}

TEST(Rescale, HoldsTheTemperatureOfEverySlab) {
  const RunOutcome outcome = run(fcc(5, 0.5, 3.0) + "[run]\nsteps = 40\n[output]\nthermo_every = 1\n" +
                                     "[ensemble]\nkind = \"rescale\"\ntemperature = 1.2\n",
                                 2);
  // 3 N T = sum m v^2 in each slab, and Temp counts 3 N - 3 degrees of freedom.
  for (const auto& row : outcome.rows) EXPECT_NEAR(row.columns[0], 1.2 * 500 / 499.0, 1e-12);
}

TEST(Gravity, EnergyTurnsIntoMotionAndBack) {
  // Without interaction every molecule falls by itself, and bounces: over a small time m g h turns into motion.
  const std::string text =
      fcc(3, 0.01, 0.5) +
      "[wca]\nepsilon = 0\n[boundary]\nx = \"mirror\"\ny = \"mirror\"\nz = \"mirror\"\n[gravity]\nz = "
      "-3.0\n[time]\ndt = 0.01\n[run]\nsteps = 10\n[output]\nthermo_every = 10\n";
  const RunOutcome outcome = run(text);
  ASSERT_EQ(outcome.rows.size(), 2U);
  // Zero momentum: on average v changes by g t, so the kinetic energy a molecule by (g t)^2 / 2.
  const double t = 0.1, gained = outcome.rows[1].columns[4] - outcome.rows[0].columns[4];
  EXPECT_NEAR(gained, 0.5 * 9.0 * t * t, 1e-10);
}

}  // namespace
