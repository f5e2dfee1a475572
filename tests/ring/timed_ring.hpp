// A ring whose work and transfers take a given time each, and begin as soon as the state machines allow: the clock goes
// from one end to the next. Without threads and data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsea/ring/ring_plan.hpp"

namespace dsea::sim {

class TimedRing {
 public:
  /// Ticks: `work` of a process for a slice, divided among workers that take turns; `link` of a transfer.
  TimedRing(const Problem& problem, const RingPlan& plan, std::int64_t work, std::int64_t link);

  /// Until nothing can happen any more; true if all slices have left the ring.
  bool run();
  /// Ticks that a super-cycle takes in the middle of the run.
  double period() const;
  /// Transfers that were begun before their slice was complete.
  std::int64_t went_ahead() const { return went_ahead_; }

 private:
  struct Job {
    StageJob job;
    std::int64_t end;
  };
  struct Process {
    StageMachine machine;
    std::vector<std::optional<Job>> jobs;  // a worker
    bool receiving = false;
    std::int64_t loaded = 0;  // when the slice of the start under way has been made
    // The link to the next process:
    std::int64_t transfer_ends = 0;  // 0: idle
    bool sends_ahead = false;        // what is under way
    std::int64_t ahead = 0;          // ticks of the next item's transfer that are over
  };

  Process& at(int p) { return processes_[static_cast<std::size_t>(p)]; }
  int next(int p) const { return (p + 1) % static_cast<int>(processes_.size()); }
  bool loads(int p) { return p == 0 && at(p).machine.taken(0) <= plan_.topology().slices(); }
  std::int64_t ticks_ahead(int p, std::int64_t item);
  void end_all(int p);
  void begin_receive(int p);
  void begin_work(int p);
  void begin_transfer(int p);
  std::int64_t next_end();

  const Problem& problem_;
  const RingPlan& plan_;
  std::int64_t work_, link_;
  std::vector<Process> processes_;
  std::vector<std::int64_t> beginnings_;  // of super-cycles at position 0
  std::int64_t now_ = 0;
  std::int64_t went_ahead_ = 0;
};

}  // namespace dsea::sim
