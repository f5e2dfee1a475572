// What limits a RingPlan's rate in its steady part.
#include <algorithm>

#include "dsea/ring/ring_plan.hpp"

namespace dsea {

Limit RingPlan::limit() const {
  if (efficiency() < 1) return Limit::slices;
  return stage_work_seconds() >= stage_link_seconds() ? Limit::work : Limit::link;
}

double RingPlan::steady_rate() const {
  if (problem_.elements == 0) return 0.0;
  const double worked_on = efficiency() * positions() * static_cast<double>(problem_.elements) / topology_.slices();
  return worked_on / (stage_seconds() * schedule_.kinds_a_step());
}

double RingPlan::lag_seconds() const {
  // The neighbours that the workers wait for come one a stage; the slice itself goes through the workers, and over the
  // link.
  const double through = (request_.at_once ? request_.workers : 1) * stage_work_seconds();
  return scaling_.order_sum * stage_seconds() + through + stage_link_seconds();
}

double RingPlan::n_max_expected() const {
  return problem_.elements == 0 ? n_max() : topology_.slices() * stage_seconds() / lag_seconds();
}

}  // namespace dsea
