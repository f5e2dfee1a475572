// What a heat problem is given: the box, the time step, and the temperature at the start.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

#include "dsea/base/config.hpp"
#include "dsea/base/hash.hpp"
#include "dsea/base/text.hpp"

namespace heat {

/// Reads [grid], [boundary] and [heat].
class Start {
 public:
  explicit Start(const dsea::Config& config)
      : nx(config.get<int>("grid.nx", 128, dsea::at_least(1))),
        ny(config.get<int>("grid.ny", 128, dsea::at_least(1))),
        nz(config.get<int>("grid.nz", 128, dsea::at_least(1))),
        dx(config.get<double>("grid.dx", 1.0, dsea::positive)),
        kind_(config.choice("heat.start", "gaussian", {"wave", "gaussian", "random"})),
        seed_(static_cast<std::uint64_t>(config.get<std::int64_t>("run.seed", 1))) {
    config.expect_sections({"grid", "boundary", "heat", "run"});
    const char* faces[] = {"boundary.x", "boundary.y", "boundary.z"};
    for (std::size_t a = 0; a < 3; ++a) {
      periodic[a] = config.choice(faces[a], "periodic", {"periodic", "insulated"}) == "periodic";
    }
    // Stable if no mode grows: the fastest decaying one changes sign in all three directions, 12 r <= 2.
    const double limit = dx * dx / (6 * config.get<double>("heat.diffusivity", 1.0, dsea::positive));
    dt = config.get<double>("heat.dt", 0.9 * limit, dsea::positive);
    if (dt > limit) config.fail("heat.dt", dsea::cat(dt, " is unstable: at most dx^2 / (6 diffusivity) = ", limit));
    r = dt / limit / 6;
  }

  /// Temperature at the centre of a cell.
  double at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    if (kind_ == "wave") return 1 + mode(0, i, nx) * mode(1, j, ny) * mode(2, k, nz);
    if (kind_ == "gaussian") return hump(i, nx) * hump(j, ny) * hump(k, nz);
    const std::uint64_t bits = dsea::hash_combine(seed_, static_cast<std::uint64_t>((i * ny + j) * nz + k));
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }

  /// Wave number along one axis of the wave: a whole wave in a periodic box, half of one between insulated faces.
  double wave_number(std::size_t axis) const {
    const std::int64_t n = std::array{nx, ny, nz}[axis];
    return n == 1 ? 0 : (periodic[axis] ? 2 : 1) * std::numbers::pi / (static_cast<double>(n) * dx);
  }

  std::int64_t nx, ny, nz;         ///< cells
  double dx;                       ///< edge of a cell
  double dt = 0;                   ///< time step
  double r = 0;                    ///< diffusivity x dt / dx^2, at most 1/6
  std::array<bool, 3> periodic{};  ///< else insulated

 private:
  double mode(std::size_t axis, std::int64_t i, std::int64_t) const {
    return std::cos(wave_number(axis) * (static_cast<double>(i) + 0.5) * dx);
  }

  /// A normal distribution's bell in the middle of the box, an eighth of the box wide.
  static double hump(std::int64_t i, std::int64_t n) {
    const double away = (static_cast<double>(i) + 0.5) / static_cast<double>(n) - 0.5;
    return std::exp(-32 * away * away);
  }

  std::string kind_;
  std::uint64_t seed_;
};

}  // namespace heat
