#include "dsea/ring/schedule.hpp"

#include <algorithm>

#include "dsea/base/check.hpp"

namespace dsea {

Schedule::Schedule(std::vector<Order> kinds, std::optional<Order> finish, std::int64_t steps, int positions,
                   int program_steps)
    : kinds_(std::move(kinds)), finish_(finish), steps_(steps), positions_(positions), program_steps_(program_steps) {
  DSEA_CHECK(!kinds_.empty() && steps >= 0 && positions >= 1, "schedule needs kinds, steps and positions");
  DSEA_CHECK(program_steps >= 1 && this->kinds() % program_steps == 0, "each step of a program has as many kinds");
  substeps_ = steps * kinds_a_step() + (finish_ ? 1 : 0);
  supercycles_ = std::max<std::int64_t>(1, (substeps_ + positions - 1) / positions);
}

int Schedule::kind(std::int64_t substep) const {
  const std::int64_t regular = steps_ * kinds_a_step();
  if (substep < regular) return static_cast<int>(substep % kinds());
  return finish_ && substep == regular ? kinds() : hand_on;
}

std::int64_t Schedule::step(std::int64_t substep) const { return std::min(substep / kinds_a_step(), steps_); }

Order Schedule::order(std::int64_t substep) const {
  const int k = kind(substep);
  if (k == hand_on) return {};
  return is_finish(k) ? *finish_ : kinds_[static_cast<std::size_t>(k)];
}

std::vector<std::int64_t> Schedule::distinct_supercycles() const {
  // Kinds repeat after at most kinds() super-cycles; the last two hold the end of the run.
  std::vector<std::int64_t> cycles;
  for (std::int64_t c = 0; c < supercycles_; ++c) {
    if (c <= kinds() || c >= supercycles_ - 2)
      cycles.push_back(c);
    else
      c = std::max(c, supercycles_ - 3);
  }
  return cycles;
}

Order Schedule::largest_order(int position) const {
  Order largest;
  for (std::int64_t c : distinct_supercycles()) {
    const Order o = order(substep(position, c));
    largest = {std::max(largest.in, o.in), std::max(largest.out, o.out)};
  }
  return largest;
}

int Schedule::ring_need(int writer_position, bool writer_is_network, bool reader_is_network) const {
  // A reader needs slices of its own super-cycle only, so writer and reader count at consecutive sub-steps.
  const auto need = [&](std::int64_t writer) {
    const int out = writer_is_network || writer < 0 ? 0 : order(writer).out;
    const int in = reader_is_network ? 0 : order(writer + 1).in;
    return 2 * out + 2 * in + 1;
  };
  int largest = writer_position == positions_ - 1 ? need(-1) : 1;  // what is loaded is read by sub-step 0
  for (std::int64_t c : distinct_supercycles()) largest = std::max(largest, need(substep(writer_position, c)));
  return largest;
}

int Schedule::slots_needed(int slices, bool one_process) const {
  // In the last super-cycle slices leave behind the last position; until the last of the super-cycle before has gone on
  // to position 0 they wait in its ring. In a ring of one process they always pass ring 0.
  if (supercycles_ == 1 && !one_process) return 0;
  const std::int64_t last = (supercycles_ - 1) * positions_;
  const auto held = [&](std::int64_t substep) {
    const Order o = order(substep);
    return std::min(o.in + o.out, slices - 1);
  };
  // The kinds repeat, so the windows of the last full period and of the end of the run, where the closing pass takes
  // the place of a kind, are all there are.
  const std::int64_t first = std::max<std::int64_t>(0, substeps_ - positions_ - kinds());
  int sum = 0;
  for (std::int64_t s = first; s < first + positions_; ++s) sum += held(s);
  int largest = 0;
  for (std::int64_t s = first; s <= std::min(substeps_, last); ++s) {
    largest = std::max(largest, sum);
    sum += held(s + positions_) - held(s);
  }
  return slices + 1 + largest;
}

double Schedule::mean_order_sum() const {
  double sum = 0;
  for (const Order& o : kinds_) sum += o.in + o.out;
  return sum / kinds();
}

}  // namespace dsea
