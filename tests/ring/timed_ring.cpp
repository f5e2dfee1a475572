#include "ring/timed_ring.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dsea/ring/final_fields.hpp"

namespace dsea::sim {

TimedRing::TimedRing(const Problem& problem, const RingPlan& plan, std::int64_t work, std::int64_t link)
    : problem_(problem), plan_(plan), work_(work), link_(link) {
  for (int p = 0; p < plan.request().processes; ++p) {
    processes_.push_back({StageMachine(plan.setup(p), plan.schedule()), {}, false, 0, 0, false, 0});
    at(p).jobs.resize(static_cast<std::size_t>(plan.request().workers));
  }
}

/// Ticks that the final fields of an item take; all but one at most, for the rest takes some time, too.
std::int64_t TimedRing::ticks_ahead(int p, std::int64_t item) {
  const StageMachine& m = at(p).machine;
  const std::int64_t substep =
      plan_.schedule().substep(m.setup().first_position + m.setup().workers - 1, m.supercycle(item));
  const std::size_t bytes = bytes_of(problem_.layout, final_fields(problem_, plan_.schedule(), substep)) *
                            static_cast<std::size_t>(plan_.topology().lanes());
  const double share = static_cast<double>(bytes) / static_cast<double>(plan_.wire_bytes());
  return std::min<std::int64_t>(link_ - 1, std::llround(share * static_cast<double>(link_)));
}

void TimedRing::end_all(int p) {
  Process& process = at(p);
  for (auto& job : process.jobs) {
    if (!job || job->end != now_) continue;
    process.machine.launched(job->job);
    process.machine.finished(job->job.worker);
    job.reset();
  }
  if (process.transfer_ends == now_ && now_ > 0) {
    process.transfer_ends = 0;
    if (process.sends_ahead) {
      process.ahead = ticks_ahead(p, *process.machine.next_send());
      return;
    }
    process.ahead = 0;
    process.machine.sent();
    at(next(p)).machine.received();
    at(next(p)).receiving = false;
  }
  if (process.receiving && loads(p) && process.loaded == now_) {
    process.machine.received();
    process.receiving = false;
  }
}

void TimedRing::begin_receive(int p) {
  Process& process = at(p);
  if (process.receiving || !process.machine.can_receive()) return;
  process.machine.begin_receive();
  process.receiving = true;
  if (loads(p)) process.loaded = now_ + link_;
}

void TimedRing::begin_work(int p) {
  Process& process = at(p);
  const bool at_once = plan_.request().at_once;
  const int workers = plan_.request().workers;
  for (int w = workers - 1; w >= 0; --w) {  // furthest downstream first
    const auto busy = [](const auto& job) { return job.has_value(); };
    if (!at_once && std::any_of(process.jobs.begin(), process.jobs.end(), busy)) return;
    auto& mine = process.jobs[static_cast<std::size_t>(w)];
    const auto job = process.machine.possible(w);
    if (mine || !job) continue;
    process.machine.start(*job);
    if (final_fields(problem_, plan_.schedule(), job->substep) != 0) process.machine.announce(*job);
    mine = Job{*job, now_ + (at_once ? work_ : work_ / workers)};
    if (job->position == 0 && job->slice == 0) beginnings_.push_back(now_);
  }
}

void TimedRing::begin_transfer(int p) {
  Process& process = at(p);
  StageMachine& m = process.machine;
  while (m.can_send() && m.exits(*m.next_send())) m.sent();
  if (process.transfer_ends > 0 || !m.next_send() || !at(next(p)).receiving || loads(next(p))) return;
  const std::int64_t ahead = ticks_ahead(p, *m.next_send());
  if (m.can_send()) {
    process.sends_ahead = false;
    process.transfer_ends = now_ + link_ - process.ahead;
  } else if (process.ahead == 0 && ahead > 0 && m.can_send_ahead()) {
    process.sends_ahead = true;
    process.transfer_ends = now_ + ahead;
    ++went_ahead_;
  }
}

std::int64_t TimedRing::next_end() {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (int p = 0; p < static_cast<int>(processes_.size()); ++p) {
    for (const auto& job : at(p).jobs) first = job ? std::min(first, job->end) : first;
    if (at(p).transfer_ends > 0) first = std::min(first, at(p).transfer_ends);
    if (at(p).receiving && loads(p)) first = std::min(first, at(p).loaded);
  }
  return first;
}

bool TimedRing::run() {
  const int processes = static_cast<int>(processes_.size());
  for (std::int64_t end = 0; end != std::numeric_limits<std::int64_t>::max(); end = next_end()) {
    now_ = end;
    for (int p = 0; p < processes; ++p) end_all(p);
    for (int p = 0; p < processes; ++p) begin_receive(p);
    for (int p = 0; p < processes; ++p) begin_work(p);
    for (int p = 0; p < processes; ++p) begin_transfer(p);
  }
  return std::all_of(processes_.begin(), processes_.end(), [](const Process& p) { return p.machine.done(); });
}

double TimedRing::period() const {
  const std::size_t first = beginnings_.size() / 2, last = beginnings_.size() - 2;
  return static_cast<double>(beginnings_[last] - beginnings_[first]) / static_cast<double>(last - first);
}

}  // namespace dsea::sim
