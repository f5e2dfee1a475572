// Molecular dynamics in its plainest form, as a reference for tests: all pairs, all images, unsorted molecules.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/md/pair/lennard_jones.hpp"

namespace dsea::md::test {

struct PlainMolecule {
  std::array<double, 3> x{}, v{}, f{};
  std::array<int, 3> image{};
  double potential = 0;
};

class BruteForce {
 public:
  BruteForce(const CellGrid& grid, const PairRow& pair, double mass, double dt)
      : axes_{grid.x, grid.y, grid.z}, pair_(pair), mass_(mass), dt_(dt) {}

  std::map<std::int64_t, PlainMolecule> molecules;  ///< by id, velocities at the full step

  /// Forces, energies and the virial of the present positions.
  void forces() {
    potential = virial = 0;
    for (auto& [id, m] : molecules) {
      m.f = {};
      m.potential = 0;
    }
    for (auto& [id, m] : molecules) {
      for (const auto& [other_id, other] : molecules) add_images(m, other, id == other_id);
      potential += m.potential;
    }
  }

  /// One step of velocity Verlet; forces() has been called for the present positions, and is for the next.
  void step() {
    for (auto& [id, m] : molecules) {
      for (std::size_t k = 0; k < 3; ++k) {
        m.v[k] += 0.5 * dt_ / mass_ * m.f[k];
        m.x[k] += dt_ * m.v[k];
        settle(m, k);
      }
    }
    forces();
    for (auto& [id, m] : molecules) {
      for (std::size_t k = 0; k < 3; ++k) m.v[k] += 0.5 * dt_ / mass_ * m.f[k];
    }
  }

  double potential = 0, virial = 0;

 private:
  void settle(PlainMolecule& m, std::size_t k) const {
    const Axis& a = axes_[k];
    if (a.periodic) {
      const int boxes = m.x[k] < a.lo ? -1 : (m.x[k] >= a.hi ? 1 : 0);
      m.x[k] -= boxes * a.length;
      m.image[k] += boxes;
    } else if (m.x[k] < a.lo || m.x[k] > a.hi) {
      m.x[k] = 2 * (m.x[k] < a.lo ? a.lo : a.hi) - m.x[k];
      m.v[k] = -m.v[k];
    }
  }

  void add_images(PlainMolecule& m, const PlainMolecule& other, bool same) {
    std::array<int, 3> most{};
    for (std::size_t k = 0; k < 3; ++k) most[k] = axes_[k].periodic ? 2 : 0;
    for (int a = -most[0]; a <= most[0]; ++a) {
      for (int b = -most[1]; b <= most[1]; ++b) {
        for (int c = -most[2]; c <= most[2]; ++c) {
          if (same && a == 0 && b == 0 && c == 0) continue;
          add(m, {m.x[0] - other.x[0] - a * axes_[0].length, m.x[1] - other.x[1] - b * axes_[1].length,
                  m.x[2] - other.x[2] - c * axes_[2].length});
        }
      }
    }
  }

  void add(PlainMolecule& m, const std::array<double, 3>& d) {
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (r2 >= pair_.c[0]) return;
    const auto value = LennardJones::evaluate(r2, pair_.c);
    for (std::size_t k = 0; k < 3; ++k) m.f[k] += value.force_over_r * d[k];
    m.potential += 0.5 * value.energy;
    virial += 0.5 * value.force_over_r * r2;
  }

  std::array<Axis, 3> axes_;
  PairRow pair_;
  double mass_, dt_;
};

/// Molecules at random places, no two closer than `apart` (images included), with random velocities.
template <class Random>
std::map<std::int64_t, PlainMolecule> random_molecules(const CellGrid& grid, int wanted, double apart, double speed,
                                                       Random& random) {
  const std::array<Axis, 3> axes{grid.x, grid.y, grid.z};
  std::map<std::int64_t, PlainMolecule> result;
  std::normal_distribution<double> normal(0, speed);
  for (int tries = 0; tries < 200 * wanted && static_cast<int>(result.size()) < wanted; ++tries) {
    PlainMolecule m;
    for (std::size_t k = 0; k < 3; ++k) {
      m.x[k] = std::uniform_real_distribution<double>(axes[k].lo, axes[k].hi)(random);
      m.v[k] = normal(random);
    }
    bool free = true;
    for (const auto& [id, other] : result) {
      double r2 = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        double d = std::abs(m.x[k] - other.x[k]);
        if (axes[k].periodic) d = std::min(d, axes[k].length - d);
        r2 += d * d;
      }
      free = free && r2 > apart * apart;
    }
    if (free) result[17 * static_cast<std::int64_t>(result.size()) % 1009 + 1] = m;  // ids without order or density
  }
  return result;
}

}  // namespace dsea::md::test
