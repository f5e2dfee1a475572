// A ring whose processes go through stages in step, as in the paper: in every stage a process receives at most one
// slice, every worker processes at most one, and at most one is sent. Received and sent slices count at the end of the
// stage.
#pragma once

#include <cstdint>
#include <vector>

#include "dsea/ring/stage_machine.hpp"

namespace dsea::sim {

class LockstepRing {
 public:
  /// What happened on one process in one stage; -1: nothing. Slices count from 0.
  struct StageRecord {
    int received = -1;
    int sent = -1;
    std::vector<int> processed;  // a worker
    std::vector<int> completed;  // by all workers
  };

  /// Workers of a process run at once (each sees what was ready when the stage began), or take turns, the first one
  /// first.
  LockstepRing(const Schedule& schedule, int slices, int processes, int workers, bool at_once,
               const std::vector<std::vector<int>>& slots);

  /// One stage of all processes; false if nothing happened.
  bool stage();
  const StageRecord& record(int process) const { return records_[static_cast<std::size_t>(process)]; }
  const StageMachine& machine(int process) const { return machines_[static_cast<std::size_t>(process)]; }
  bool done() const;
  /// Stages (from 1) in which position 0 began a super-cycle.
  const std::vector<std::int64_t>& beginnings() const { return beginnings_; }

 private:
  void work(int process, const StageJob& job);

  int slices_;
  bool at_once_;
  std::vector<StageMachine> machines_;
  std::vector<StageRecord> records_;
  std::vector<std::int64_t> beginnings_;
  std::int64_t stages_ = 0;
};

}  // namespace dsea::sim
