#include "ring/lockstep_ring.hpp"

#include <algorithm>

namespace dsea::sim {

LockstepRing::LockstepRing(const Schedule& schedule, int slices, int processes, int workers, bool at_once,
                           const std::vector<std::vector<int>>& slots)
    : slices_(slices), at_once_(at_once) {
  for (int p = 0; p < processes; ++p) {
    StageMachine::Setup setup;
    setup.slices = slices;
    setup.workers = workers;
    setup.first_position = p * workers;
    setup.one_process = processes == 1;
    setup.slots = slots[static_cast<std::size_t>(p)];
    machines_.emplace_back(setup, schedule);
  }
  records_.resize(machines_.size());
}

void LockstepRing::work(int p, const StageJob& job) {
  StageMachine& m = machines_[static_cast<std::size_t>(p)];
  StageRecord& record = records_[static_cast<std::size_t>(p)];
  m.launched(job);
  m.finished(job.worker);
  record.processed[static_cast<std::size_t>(job.worker)] = job.slice;
  for (int s = job.completes_begin; s < job.completes_end; ++s) record.completed.push_back(s);
  if (job.position == 0 && job.slice == 0) beginnings_.push_back(stages_);
}

bool LockstepRing::stage() {
  ++stages_;
  const int processes = static_cast<int>(machines_.size());
  const auto at = [](auto& list, int i) -> auto& { return list[static_cast<std::size_t>(i)]; };
  // A transfer takes a stage and is decided by the state at its beginning.
  for (int p = 0; p < processes; ++p)
    at(records_, p) = {-1, -1, std::vector<int>(static_cast<std::size_t>(at(machines_, p).setup().workers), -1), {}};
  for (int p = 0; p < processes; ++p) {
    StageMachine& to = at(machines_, p);
    StageMachine& from = at(machines_, (p + processes - 1) % processes);
    if (from.can_send() && from.exits(*from.next_send())) {
      at(records_, (p + processes - 1) % processes).sent = from.slice(*from.next_send());
    }
    if (!to.can_receive()) continue;
    const bool loading = p == 0 && *to.next_receive() < slices_;
    if (!loading && (!from.can_send() || from.exits(*from.next_send()))) continue;
    at(records_, p).received = to.slice(*to.next_receive());
    if (!loading) at(records_, (p + processes - 1) % processes).sent = from.slice(*from.next_send());
  }
  for (int p = 0; p < processes; ++p) {
    StageMachine& m = at(machines_, p);
    if (at(records_, p).received >= 0) m.begin_receive();
    std::vector<StageJob> jobs;
    for (int w = 0; w < m.setup().workers; ++w) {
      const auto job = m.possible(w);
      if (!job) continue;
      if (at_once_) {
        jobs.push_back(*job);
      } else {
        m.start(*job);
        work(p, *job);
      }
    }
    for (const StageJob& job : jobs) m.start(job);
    for (const StageJob& job : jobs) work(p, job);
  }
  bool any = false;
  for (int p = 0; p < processes; ++p) {
    const StageRecord& record = at(records_, p);
    if (record.sent >= 0) at(machines_, p).sent();
    if (record.received >= 0) at(machines_, p).received();
    any = any || record.sent >= 0 || record.received >= 0 ||
          std::any_of(record.processed.begin(), record.processed.end(), [](int s) { return s >= 0; });
  }
  return any;
}

bool LockstepRing::done() const {
  return std::all_of(machines_.begin(), machines_.end(), [](const StageMachine& m) { return m.done(); });
}

}  // namespace dsea::sim
