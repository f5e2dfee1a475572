// Runs the skeleton of three kinds: the state and the global minimum of every step are those of a plain sweep, bit for
// bit, however the ring is cut.
#include <gtest/gtest.h>

#include "tests/api/skeleton_three_kinds.hpp"

template class dsea::ProgramOf<skeleton::ThreeKinds>;

namespace {

struct Case {
  int slabs, cells;
  bool periodic;
  std::int64_t steps, delay;
};

dsea::Config config(const Case& c, int workers) {
  return dsea::Config::from_text(dsea::cat("grid = {slabs = ", c.slabs, ", cells = ", c.cells, "}\nboundary.x = \"",
                                           c.periodic ? "periodic" : "outflow", "\"\nrun = {steps = ", c.steps,
                                           ", feedback_delay = ", c.delay, "}\nring.workers = ", workers,
                                           "\noutput.thermo_every = 1\n"));
}

/// The program by plain loops over the whole box.
class Sweep {
 public:
  explicit Sweep(const Case& c) : c_(c), u_(size()), v_(size()), mask_(size()) {
    for (int i = 0; i < c.slabs; ++i) {
      for (int j = 0; j < c.cells; ++j) {
        u_[at(i, j)] = std::sin(0.3 * i + 0.7 * j);
        mask_[at(i, j)] = (i + j) % 3 == 0 ? 0 : 1;
      }
    }
    for (std::int64_t t = 0; t < c.steps; ++t) step(t);
  }

  std::vector<double> limits;  // of every step

  std::uint64_t digest() {
    dsea::SliceLayout layout;
    layout.grid<double>("u", c_.cells);
    layout.grid<double>("v", c_.cells);
    layout.grid<std::int32_t>("mask", c_.cells);
    std::int64_t count = c_.cells;
    std::uint64_t sum = 0;
    for (int i = 0; i < c_.slabs; ++i) {
      const dsea::RawField fields[] = {
          {&u_[at(i, 0)], &count, count}, {&v_[at(i, 0)], &count, count}, {&mask_[at(i, 0)], &count, count}};
      sum += dsea::slab_digest(layout, i, fields);
    }
    return sum;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(c_.slabs) * static_cast<std::size_t>(c_.cells); }
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(c_.cells) + static_cast<std::size_t>(j);
  }
  int slab(int i, int d) const {  // -1: beyond an open end
    if (!c_.periodic) return i + d >= 0 && i + d < c_.slabs ? i + d : -1;
    return ((i + d) % c_.slabs + c_.slabs) % c_.slabs;
  }
  double around(const std::vector<double>& x, int i, int j, int reach) const {
    double sum = 0;
    for (int d = -reach; d <= reach; ++d) {
      if (slab(i, d) >= 0) sum += skeleton::weight(d) * x[at(slab(i, d), j)];
    }
    return sum;
  }
  /// What `share(source, d)` gives, gathered in the order of the sources.
  template <class Share>
  double gathered(int i, Share share) const {
    double sum = 0;
    for (int d = -1; d <= 1; ++d) {
      if (slab(i, d) >= 0) sum += share(slab(i, d), -d);
    }
    return sum;
  }

  void step(std::int64_t t) {
    std::vector<double> next(size());
    for (int i = 0; i < c_.slabs; ++i) {
      for (int j = 0; j < c_.cells; ++j) {
        next[at(i, j)] = gathered(i, [&](int source, int d) {
          return mask_[at(source, j)] == 0 && d != 0 ? 0.0 : around(u_, source, j, 2) * (0.3 + 0.125 * d);
        });
      }
    }
    u_ = next;
    double limit = std::numeric_limits<double>::infinity();
    for (int i = 0; i < c_.slabs; ++i) {
      for (int j = 0; j < c_.cells; ++j) {
        v_[at(i, j)] = around(u_, i, j, 4);
        limit = std::min(limit, 1.0 / (1.0 + std::fabs(v_[at(i, j)])));
      }
    }
    limits.push_back(limit);
    const double dt = t < c_.delay ? 0.5 : limits[static_cast<std::size_t>(t - c_.delay)];
    for (int i = 0; i < c_.slabs; ++i) {
      for (int j = 0; j < c_.cells; ++j) {
        next[at(i, j)] = gathered(i, [&](int source, int d) {
          const double mean = around(v_, source, j, 1);
          return d == 0 ? u_[at(source, j)] - dt * 0.5 * mean : dt * (d < 0 ? 0.25 : 0.5) * mean;
        });
      }
    }
    u_ = next;
  }

  Case c_;
  std::vector<double> u_, v_;
  std::vector<std::int32_t> mask_;
};

void compare(const Case& c, int ranks, int workers, const dsea::DeviceOptions& device = {}) {
  SCOPED_TRACE(dsea::cat(c.slabs, " slabs, periodic ", c.periodic, ", ranks ", ranks, ", workers ", workers));
  Sweep sweep(c);
  const auto outcome = dsea::run_local<skeleton::ThreeKinds>(config(c, workers), ranks, device);
  EXPECT_EQ(outcome.digest(), sweep.digest());
  ASSERT_GE(outcome.rows.size(), static_cast<std::size_t>(c.steps));
  for (std::size_t t = 0; t < static_cast<std::size_t>(c.steps); ++t) {
    EXPECT_EQ(outcome.rows[t].columns[0], sweep.limits[t]) << "step " << t;
  }
}

TEST(ThreeKinds, IsAPlainSweepHoweverTheRingIsCut) {
  for (const bool periodic : {true, false}) {
    const Case c{.slabs = 12, .cells = 20, .periodic = periodic, .steps = 25, .delay = 6};
    for (const int ranks : {1, 2, 3}) {
      for (const int workers : {1, 2, 5}) compare(c, ranks, workers);
    }
  }
}

TEST(ThreeKinds, AnyNumberOfSlabs) {
  for (const bool periodic : {true, false}) {
    for (const int slabs : {1, 2, 3, 5, 9}) {
      compare({.slabs = slabs, .cells = 7, .periodic = periodic, .steps = 10, .delay = 5}, 2, 3);
    }
  }
}

TEST(ThreeKinds, NoStreamForgetsToWait) {
  dsea::DeviceOptions device;
  device.async_streams = true;
  device.delay_seed = 3;
  compare({.slabs = 7, .cells = 16, .periodic = true, .steps = 8, .delay = 4}, 2, 2, device);
}

}  // namespace
