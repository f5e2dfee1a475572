// The kernels against a plain sum over all pairs and images, in boxes of every shape.
#include "kernels/md/brute_force.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/md/sweep.hpp"

namespace dsea::md::test {
namespace {

constexpr double cutoff = 2.0;

struct Shape {
  double edges[3];  // in units of the cut-off
  bool periodic[3];
};

std::string text(const Shape& s) {
  std::string t;
  for (int k = 0; k < 3; ++k) t += (s.periodic[k] ? "periodic " : "mirror ") + std::to_string(s.edges[k]) + "; ";
  return t;
}

CellGrid make_grid(const Shape& s, std::int64_t molecules, double margin = 0) {
  CellGrid grid;
  Axis* const axes[] = {&grid.x, &grid.y, &grid.z};
  for (int k = 0; k < 3; ++k) {
    const double lo = -0.7 + 0.3 * k;
    *axes[k] = make_axis(lo, lo + s.edges[k] * cutoff, s.periodic[k], cutoff, cutoff + 2 * margin, "x");
  }
  limit_cells(grid, molecules);
  return grid;
}

/// The same box with slabs of random widths, if there is room for it; the edges live as long as `edges`.
CellGrid with_unequal_slabs(const CellGrid& equal, double reach, std::vector<double>& edges, std::mt19937_64& random) {
  const double spare = equal.x.length - equal.x.parts * reach;
  std::vector<double> shares(static_cast<std::size_t>(equal.x.parts));
  double sum = 0;
  for (double& share : shares) sum += share = std::uniform_real_distribution<double>(0, 1)(random);
  edges = {equal.x.lo};
  for (const double share : shares) edges.push_back(edges.back() + reach + spare * share / sum);
  edges.back() = equal.x.hi;
  CellGrid grid = equal;
  grid.x = SlabAxis(equal.x, edges.data(), equal.x.parts);
  return grid;
}

/// Puts molecules into the sweep's slabs.
void fill(Sweep& sweep, const CellGrid& grid, const std::map<std::int64_t, PlainMolecule>& molecules) {
  for (int s = 0; s < grid.slabs(); ++s) {
    MoleculesOut out = sweep.slab(s).out();
    std::int64_t n = 0;
    for (int c = 0; c < grid.cells(); ++c) {
      out.cells[c] = static_cast<std::int32_t>(n);
      for (const auto& [id, m] : molecules) {
        if (grid.x.part(m.x[0]) != s || grid.cell(m.x[1], m.x[2]) != c) continue;
        out.position[n] = {m.x[0], m.x[1], m.x[2], make_tag(1, 0, 0, 0)};
        out.velocity[n] = {m.v[0], m.v[1], m.v[2]};
        out.id[n] = id;
        ++n;
      }
    }
    out.cells[grid.cells()] = static_cast<std::int32_t>(n);
    out.position.set_count(n);
  }
}

void check_order(Sweep& sweep, const CellGrid& grid) {
  for (int s = 0; s < grid.slabs(); ++s) {
    const MoleculesIn m = sweep.slab(s).in();
    ASSERT_EQ(m.cells[0], 0);
    ASSERT_EQ(m.cells[grid.cells()], m.position.count());
    for (int c = 0; c < grid.cells(); ++c) {
      for (std::int32_t i = m.cells[c]; i < m.cells[c + 1]; ++i) {
        ASSERT_EQ(grid.x.part(m.position[i].x), s);
        ASSERT_EQ(grid.cell(m.position[i].y, m.position[i].z), c);
        if (i > m.cells[c]) {
          ASSERT_LT(m.id[i - 1], m.id[i]);
        }
      }
    }
  }
}

void expect_same(const FullState& state, const BruteForce& reference, double tolerance) {
  ASSERT_EQ(state.molecules.size(), reference.molecules.size());
  EXPECT_NEAR(state.potential, reference.potential, tolerance * (1 + std::abs(reference.potential)));
  EXPECT_NEAR(state.virial, reference.virial, tolerance * (1 + std::abs(reference.virial)));
  double force[3] = {0, 0, 0};
  for (const auto& [id, m] : reference.molecules) {
    const auto& [p, s] = state.molecules.at(id);
    const double x[] = {p.x, p.y, p.z};
    const double v[] = {s.velocity.x, s.velocity.y, s.velocity.z};
    const double f[] = {s.fx, s.fy, s.fz};
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_NEAR(x[k], m.x[k], tolerance * 10) << "molecule " << id << " axis " << k;
      ASSERT_NEAR(v[k], m.v[k], tolerance * 10) << "molecule " << id << " axis " << k;
      ASSERT_NEAR(f[k], m.f[k], tolerance * 1000) << "molecule " << id << " axis " << k;
      ASSERT_EQ(tag_image(p.tag, static_cast<int>(k)), m.image[k]) << "molecule " << id << " axis " << k;
      force[k] += f[k];
    }
    ASSERT_NEAR(s.potential, m.potential, tolerance * 100);
  }
  for (double f : force) EXPECT_NEAR(f, 0, 1e-10);  // momentum
}

class Shapes : public testing::TestWithParam<Shape> {};

/// How molecules are sorted and whether lists are used.
struct Way {
  int sort_every;
  double skin;
  int stride;
  bool unequal = false;  ///< widths of slabs
};

void same_as_all_pairs(const Shape& shape, const Way& way) {
  SCOPED_TRACE(text(shape));
  const double volume = shape.edges[0] * shape.edges[1] * shape.edges[2] * cutoff * cutoff * cutoff;
  const int wanted = std::min(300, static_cast<int>(0.4 * volume));
  constexpr double mass = 1.3;
  constexpr double dt = 0.004;
  const double margin = margin_for(way.sort_every, dt, 8.0);
  std::mt19937_64 random(static_cast<unsigned>(1000 * shape.edges[0] + 100 * shape.edges[1] + shape.edges[2]));
  CellGrid grid = make_grid(shape, wanted, margin);
  std::vector<double> edges;
  if (way.unequal) grid = with_unequal_slabs(grid, cutoff + 2 * margin, edges, random);
  const PairRow pair = LennardJones::row(0.9, 1.05, cutoff, true);
  ForceField field = one_type(grid, pair, mass, dt);
  if (field.margin < margin) GTEST_SKIP() << "the box is too small to sort every " << way.sort_every << " steps";
  field.skin = way.skin;
  field.list_stride = way.stride;

  BruteForce reference(grid, pair, mass, dt);
  reference.molecules = random_molecules(grid, wanted, 1.0, 1.5, random);
  reference.forces();
  Sweep sweep(field, 400, 400, way.sort_every);
  fill(sweep, grid, reference.molecules);
  expect_same(sweep.observe(), reference, 1e-11);
  for (int step = 0; step < 60; ++step) {
    sweep.step();
    if (sweep.sorted()) check_order(sweep, grid);
    reference.step();
  }
  if (sweep.sorted()) expect_same(sweep.observe(), reference, 1e-9);
  EXPECT_EQ(sweep.fault_word(), ~std::uint64_t{0});
  if (way.skin > 0.3) {
    EXPECT_EQ(sweep.plain_sums(), 0);
  }
  if (way.skin > 0 && way.skin < 0.1) {
    EXPECT_GT(sweep.plain_sums(), 0);
  }
  if (wanted > 50 && (grid.slabs() > 1 || grid.x.periodic)) {
    EXPECT_GT(sweep.moved_between_slabs(), 0);
  }
}

TEST_P(Shapes, SameAsAllPairs) { same_as_all_pairs(GetParam(), {1, 0, 0}); }
TEST_P(Shapes, SortedNowAndThen) { same_as_all_pairs(GetParam(), {4, 0, 0}); }
TEST_P(Shapes, WithLists) { same_as_all_pairs(GetParam(), {4, 0.4, 160}); }
TEST_P(Shapes, WithListsThatGrowOldAndAreTooShort) { same_as_all_pairs(GetParam(), {5, 0.05, 8}); }

TEST_P(Shapes, SlabsOfUnequalWidth) { same_as_all_pairs(GetParam(), {1, 0, 0, true}); }
TEST_P(Shapes, SlabsOfUnequalWidthWithLists) { same_as_all_pairs(GetParam(), {4, 0.4, 160, true}); }

INSTANTIATE_TEST_SUITE_P(
    Boxes, Shapes,
    testing::Values(Shape{{1.001, 1.001, 1.001}, {true, true, true}}, Shape{{1.01, 2.0, 3.0}, {true, true, true}},
                    Shape{{2.0, 1.3, 1.001}, {true, true, true}}, Shape{{2.5, 3.2, 1.001}, {true, true, true}},
                    Shape{{3.0, 3.0, 3.0}, {true, true, true}}, Shape{{4.2, 1.9, 2.9}, {true, true, true}},
                    Shape{{5.1, 2.0, 2.0}, {true, true, true}}, Shape{{0.8, 2.1, 2.2}, {false, true, true}},
                    Shape{{1.0, 1.0, 1.0}, {false, false, false}}, Shape{{2.3, 0.9, 2.2}, {false, false, true}},
                    Shape{{3.4, 2.2, 1.1}, {false, true, false}}, Shape{{2.0, 3.5, 3.5}, {true, false, false}},
                    Shape{{1.001, 2.4, 0.6}, {true, true, false}}, Shape{{5.5, 1.2, 2.1}, {false, true, true}}));

TEST(SweepBox, ThinlyFilledBoxHasFewCells) {
  const CellGrid grid = make_grid({{30, 30, 30}, {true, true, true}}, 60);
  EXPECT_LE(grid.cells(), 9);
  std::mt19937_64 random(5);
  const PairRow pair = LennardJones::row(1, 1, cutoff, true);
  BruteForce reference(grid, pair, 1, 0.01);
  reference.molecules = random_molecules(grid, 60, 1.0, 20, random);
  reference.forces();
  Sweep sweep(one_type(grid, pair, 1, 0.01), 60, 60);
  fill(sweep, grid, reference.molecules);
  for (int step = 0; step < 20; ++step) {
    sweep.step();
    check_order(sweep, grid);
    reference.step();
  }
  expect_same(sweep.observe(), reference, 1e-9);
}

TEST(SweepBox, EmptyBox) {
  const CellGrid grid = make_grid({{3, 2, 1.01}, {true, true, true}}, 0);
  Sweep sweep(one_type(grid, LennardJones::row(1, 1, cutoff, true), 1, 0.01), 1, 1);
  fill(sweep, grid, {});
  sweep.step();
  check_order(sweep, grid);
  EXPECT_EQ(sweep.observe().molecules.size(), 0U);
}

/// The fault word after one step of a single molecule, or of two.
std::uint64_t fault_of(PlainMolecule first, std::optional<PlainMolecule> second = {}) {
  const CellGrid grid = make_grid({{4, 3, 3}, {true, true, false}}, 100);
  Sweep sweep(one_type(grid, LennardJones::row(1, 1, cutoff, true), 1, 0.01), 10, 10);
  std::map<std::int64_t, PlainMolecule> molecules{{42, first}};
  if (second) molecules[43] = *second;
  fill(sweep, grid, molecules);
  sweep.step();
  if (sweep.fault_word() == ~std::uint64_t{0}) check_order(sweep, grid);
  return sweep.fault_word();
}

std::uint64_t word(MdFault fault, std::uint64_t id) { return (static_cast<std::uint64_t>(fault) << 56) | id; }

TEST(Faults, NamesWhoMovesTooFarAndWho) {
  const auto at = [](double vx, double vy, double vz) { return PlainMolecule{.x = {1, 1, 1}, .v = {vx, vy, vz}}; };
  EXPECT_EQ(fault_of(at(10, 10, 10)), ~std::uint64_t{0});
  EXPECT_EQ(fault_of(at(410, 0, 0)), word(MdFault::too_far, 42));   // two slabs on
  EXPECT_EQ(fault_of(at(-410, 0, 0)), word(MdFault::too_far, 42));  // through the seam
  EXPECT_EQ(fault_of(at(0, 410, 0)), word(MdFault::too_far, 42));   // two cells on
  EXPECT_EQ(fault_of(at(0, 0, 5e5)), word(MdFault::too_far, 42));   // beyond the opposite wall after reflection
  EXPECT_EQ(fault_of(at(1e300, 0, 0)), word(MdFault::too_far, 42));
  EXPECT_EQ(fault_of(at(0, 0, 0), at(0, 0, 0)), word(MdFault::not_finite, 42));  // two at the same place
}

}  // namespace
}  // namespace dsea::md::test
