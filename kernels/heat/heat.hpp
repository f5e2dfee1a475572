// Heat conduction in a box: dT/dt = diffusivity x (second derivatives of T), explicit in time, second order in space.
// The worker that kernels/README.md walks through.
//
// A slab is one plane of cells across the stream axis x; a plane is stored with y running fastest. Cells are cubes; T
// lives in their centres. The box is periodic or insulated (no heat flows) at each pair of faces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsea/dsea.hpp"
#include "kernels/heat/diffuse.hpp"
#include "kernels/heat/start.hpp"
#include "kernels/heat/vti_writer.hpp"

namespace heat {

class Heat {
 public:
  explicit Heat(const dsea::Config& config)
      : start_(config), y_(Axis::of(start_.ny, start_.periodic[1])), z_(Axis::of(start_.nz, start_.periodic[2])) {
    problem_.slabs = start_.nx;
    problem_.periodic = start_.periodic[0];
    problem_.dt = start_.dt;
    problem_.elements = start_.nx * plane();
    problem_.element_name = "cells";
    T_ = problem_.layout.grid<double>("T", plane());
    problem_.snapshot.grid<double>("T", plane());
    heat_ = problem_.observable("heat", dsea::ReduceOp::sum);
    coldest_ = problem_.observable("coldest", dsea::ReduceOp::min);
    hottest_ = problem_.observable("hottest", dsea::ReduceOp::max);
    problem_.columns = {"heat", "coldest", "hottest"};
    problem_.kinds = {dsea::Kind("diffuse", 1).observes(heat_).observes(coldest_).observes(hottest_)};
    problem_.finish = dsea::Kind("look", 0).reads(T_).observes(heat_).observes(coldest_).observes(hottest_);
  }

  dsea::Problem problem() const { return problem_; }

  void init(int slab, dsea::SlabOut out) const {
    for (std::int64_t i = 0; i < plane(); ++i) out[T_][i] = start_.at(slab, i % y_.n, i / y_.n);
  }

  void run(dsea::Stage& s) const {
    const auto here = s.in()[T_];
    const auto left = s.in(-1) ? s.in(-1)[T_] : here;  // insulated: the mirror image
    const auto right = s.in(+1) ? s.in(+1)[T_] : here;
    dsea::for_each_row(s, z_.n, y_.n, Diffuse{left, here, right, s.out()[T_], y_, z_, start_.r});
    look(s);
  }

  void finish(dsea::Stage& s) const { look(s); }  // the last step's numbers

  std::vector<double> row(const dsea::StepSums& sums) const {
    return {sums[heat_] * start_.dx * start_.dx * start_.dx, sums[coldest_], sums[hottest_]};
  }

  std::unique_ptr<dsea::SnapshotWriter> open_snapshot(std::int64_t step, const std::string& folder) const {
    return std::make_unique<VtiWriter>(dsea::cat(folder, "/heat.", step, ".vti"), T_, start_.nx, y_.n, z_.n, start_.dx,
                                       static_cast<double>(step) * problem_.dt);
  }

 private:
  std::int64_t plane() const { return y_.n * z_.n; }

  void look(dsea::Stage& s) const {
    const auto T = s.in()[T_];
    if (const auto picture = s.snapshot()) dsea::copy(s, picture[T_].data, T.data, sizeof(double) * plane());
    if (!s.observing()) return;
    for (const auto number : {heat_, coldest_, hottest_}) dsea::observe(s, number, plane(), Temperature{T});
  }

  Start start_;
  Axis y_, z_;
  dsea::Problem problem_;
  dsea::Field<double> T_;
  dsea::Observable heat_, coldest_, hottest_;
};

}  // namespace heat
