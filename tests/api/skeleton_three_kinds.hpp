// Skeleton of a program of three kinds of workers with orders 2/1, 4/0 and 1/1: fields that are contributed, written,
// read and carried, and a global minimum that limits the time step D steps later. The numbers mean nothing; they are
// such that every mistake in order, neighbour, contribution or delay changes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "dsea/dsea.hpp"

namespace skeleton {

using dsea::View;

/// Weight of the neighbour at distance d; not symmetric.
DSEA_FN inline double weight(int d) { return 1.0 / (3.0 + d * d + 0.25 * d); }

/// Kind 0: region d of slab i gets share d of a sum over slabs i-2..i+2, where the mask allows it.
struct Spread {
  View<const double> u[5];
  View<const std::int32_t> mask;
  View<double> region[3];
  DSEA_FN void operator()(std::int64_t j) const {
    double sum = 0;
    for (int d = -2; d <= 2; ++d) {
      if (u[d + 2]) sum += weight(d) * u[d + 2][j];
    }
    for (int d = -1; d <= 1; ++d) {
      if (region[d + 1]) region[d + 1][j] = mask[j] == 0 && d != 0 ? 0.0 : sum * (0.3 + 0.125 * d);
    }
  }
};

/// Merge of kinds 0 and 2: always in the order of the sources.
struct Gather {
  View<const double> region[3];
  View<double> u;
  DSEA_FN void operator()(std::int64_t j) const {
    double sum = 0;
    for (const View<const double>& r : region) {
      if (r) sum += r[j];
    }
    u[j] = sum;
  }
};

/// Kind 1: v from u of nine slabs.
struct Smooth {
  View<const double> u[9];
  View<double> v;
  DSEA_FN void operator()(std::int64_t j) const {
    double sum = 0;
    for (int d = -4; d <= 4; ++d) {
      if (u[d + 4]) sum += weight(d) * u[d + 4][j];
    }
    v[j] = sum;
  }
};

/// The largest time step that this place allows.
struct Limit {
  View<const double> v;
  DSEA_FN double operator()(std::int64_t j) const { return 1.0 / (1.0 + std::fabs(v[j])); }
};

/// Kind 2: slab i gives dt times a part of v to its neighbours.
struct Move {
  View<const double> u;
  View<const double> v[3];
  View<double> region[3];
  double dt;
  DSEA_FN void operator()(std::int64_t j) const {
    double mean = 0;
    for (int d = -1; d <= 1; ++d) {
      if (v[d + 1]) mean += weight(d) * v[d + 1][j];
    }
    if (region[0]) region[0][j] = dt * 0.25 * mean;
    region[1][j] = u[j] - dt * 0.5 * mean;
    if (region[2]) region[2][j] = dt * 0.5 * mean;
  }
};

class ThreeKinds {
 public:
  explicit ThreeKinds(const dsea::Config& config) : cells_(config.get<int>("grid.cells", 96, dsea::at_least(1))) {
    problem_.slabs = config.get<int>("grid.slabs", 12, dsea::at_least(1));
    problem_.periodic = config.choice("boundary.x", "periodic", {"periodic", "outflow"}) == "periodic";
    problem_.elements = std::int64_t{problem_.slabs} * cells_;
    u_ = problem_.layout.grid<double>("u", cells_);
    v_ = problem_.layout.grid<double>("v", cells_);
    mask_ = problem_.layout.grid<std::int32_t>("mask", cells_);
    limit_ = problem_.observable("limit", dsea::ReduceOp::min, 0.5);
    problem_.kinds = {
        dsea::Kind("spread", 2, 1).contributes(u_).carries(v_).reads(mask_),
        dsea::Kind("smooth", 4, 0).reads(u_).carries(mask_).observes(limit_),
        dsea::Kind("move", 1, 1).contributes(u_).reads(v_).carries(mask_).feeds_back(limit_),
    };
    problem_.columns = {"limit"};
  }

  dsea::Problem problem() const { return problem_; }

  void init(int slab, dsea::SlabOut out) const {
    for (int j = 0; j < cells_; ++j) {
      out[u_][j] = std::sin(0.3 * slab + 0.7 * j);
      out[v_][j] = 0;
      out[mask_][j] = (slab + j) % 3 == 0 ? 0 : 1;
    }
  }

  void run(dsea::Stage& s) const {
    switch (s.kind()) {
      case 0:
        return spread(s);
      case 1:
        return smooth(s);
      default:
        return move(s);
    }
  }

  void merge(dsea::Stage& s) const {
    Gather gather;
    for (int d = -1; d <= 1; ++d) gather.region[d + 1] = s.contribution(d)[u_];
    gather.u = s.out()[u_];
    dsea::for_each(s, cells_, gather);
  }

  std::vector<double> row(const dsea::StepSums& sums) const { return {sums[limit_]}; }

 private:
  void spread(dsea::Stage& s) const {
    Spread kernel;
    for (int d = -2; d <= 2; ++d) kernel.u[d + 2] = s.in(d)[u_];
    kernel.mask = s.in()[mask_];
    for (int d = -1; d <= 1; ++d) {
      if (s.has_neighbour(d)) kernel.region[d + 1] = s.out(d)[u_];
    }
    dsea::for_each(s, cells_, kernel);
  }

  void smooth(dsea::Stage& s) const {
    Smooth kernel;
    for (int d = -4; d <= 4; ++d) kernel.u[d + 4] = s.in(d)[u_];
    kernel.v = s.out()[v_];
    dsea::for_each(s, cells_, kernel);
    dsea::observe(s, limit_, cells_, Limit{kernel.v});
  }

  void move(dsea::Stage& s) const {
    Move kernel;
    kernel.u = s.in()[u_];
    for (int d = -1; d <= 1; ++d) {
      kernel.v[d + 1] = s.in(d)[v_];
      if (s.has_neighbour(d)) kernel.region[d + 1] = s.out(d)[u_];
    }
    kernel.dt = s.reduced(limit_);
    dsea::for_each(s, cells_, kernel);
  }

  int cells_;
  dsea::Problem problem_;
  dsea::Field<double> u_, v_;
  dsea::Field<std::int32_t> mask_;
  dsea::Observable limit_;
};

}  // namespace skeleton
