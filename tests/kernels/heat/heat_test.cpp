// The physics of the heat worker: the exact decay of a wave, second order in space, conservation, bounds.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/heat/box.hpp"

using heat_test::Box;

namespace {

double wave(const heat::Start& start, int i, int j, int k) { return start.at(i, j, k) - 1; }

TEST(Heat, AWaveDecaysByTheSchemesOwnFactor) {
  for (const int bits : {0, 1, 2, 4, 7}) {
    for (const int nx : {1, 2, 3, 4, 9}) {
      Box box{.nx = nx, .ny = 6, .nz = 5, .dx = 0.5, .dt = 0.02, .diffusivity = 1.5, .start = "wave", .steps = 20};
      for (int a = 0; a < 3; ++a) box.periodic[a] = (bits >> a & 1) != 0;
      const heat::Start start(dsea::Config::from_text(box.toml()));
      double factor = 1;
      for (std::size_t a = 0; a < 3; ++a) {
        const double s = std::sin(0.5 * start.wave_number(a) * box.dx);
        factor -= 4 * box.diffusivity * box.dt / (box.dx * box.dx) * s * s;
      }
      const double amplitude = std::pow(factor, static_cast<double>(box.steps));
      const auto result = heat_test::run(box, 2, 3);
      const auto& T = result.snapshots.at(box.steps);
      for (int i = 0; i < box.nx; ++i) {
        for (int j = 0; j < box.ny; ++j) {
          for (int k = 0; k < box.nz; ++k) {
            ASSERT_NEAR(T[box.at(i, j, k)], 1 + amplitude * wave(start, i, j, k), 1e-13)
                << "boundaries " << bits << ", " << nx << " planes, cell " << i << " " << j << " " << k;
          }
        }
      }
    }
  }
}

// Against the solution of the equation itself: exp(-diffusivity k^2 t).
double error(int n, bool periodic) {
  const double r = 0.1, dx = 1.0 / n, end = 0.02;
  Box box{.nx = n, .ny = n, .nz = n, .dx = dx, .dt = r * dx * dx, .diffusivity = 1, .start = "wave"};
  for (bool& p : box.periodic) p = periodic;
  box.steps = std::lround(end / box.dt);
  const heat::Start start(dsea::Config::from_text(box.toml()));
  const double k = start.wave_number(0);
  const double amplitude = std::exp(-3 * k * k * static_cast<double>(box.steps) * box.dt);
  const auto result = heat_test::run(box, 1, 4);
  const auto& T = result.snapshots.at(box.steps);
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int m = 0; m < n; ++m) {
        largest = std::max(largest, std::fabs(T[box.at(i, j, m)] - 1 - amplitude * wave(start, i, j, m)));
      }
    }
  }
  return largest;
}

TEST(Heat, IsOfSecondOrderInSpace) {
  for (const bool periodic : {true, false}) {
    const double coarse = error(10, periodic), fine = error(20, periodic), finest = error(40, periodic);
    EXPECT_NEAR(coarse / fine, 4, 0.4) << periodic;
    EXPECT_NEAR(fine / finest, 4, 0.1) << periodic;
  }
}

TEST(Heat, IsConservedAndStaysBetweenItsBounds) {
  for (const bool periodic : {true, false}) {
    Box box{.nx = 7, .ny = 10, .nz = 9, .steps = 60};
    for (bool& p : box.periodic) p = periodic;
    const auto result = heat_test::run(box, 2, 2);
    const auto& rows = result.outcome.rows;
    ASSERT_EQ(rows.size(), 61U);  // the closing pass reports the last step
    for (std::size_t i = 1; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].step, static_cast<std::int64_t>(i));
      EXPECT_NEAR(rows[i].columns[0], rows[0].columns[0], 1e-12 * rows[0].columns[0]);
      EXPECT_GE(rows[i].columns[1], rows[i - 1].columns[1]);
      EXPECT_LE(rows[i].columns[2], rows[i - 1].columns[2]);
    }
    EXPECT_LT(rows.back().columns[2] - rows.back().columns[1], 0.2 * (rows[0].columns[2] - rows[0].columns[1]));
  }
}

TEST(Heat, TheLargestTimeStepIsNamed) {
  Box box{.dx = 0.5, .dt = 0.0417, .diffusivity = 1};
  try {
    heat::Heat heat(dsea::Config::from_text(box.toml()));
    FAIL() << "above dx^2 / 6 the scheme is unstable";
  } catch (const dsea::UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("heat.dt"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("0.04166"), std::string::npos) << e.what();
  }
  box.dt = 0.0416;
  EXPECT_NO_THROW(heat::Heat(dsea::Config::from_text(box.toml())));
}

}  // namespace
