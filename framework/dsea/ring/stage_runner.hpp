// Carries out the state machine's answers for one worker: puts a stage's work on the worker's stream, and takes in what
// the stage has produced once the device is through with it.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dsea/base/signal.hpp"
#include "dsea/ring/contributions.hpp"
#include "dsea/ring/ledger.hpp"
#include "dsea/ring/snapshot_pool.hpp"
#include "dsea/ring/stage_context.hpp"
#include "dsea/ring/worker_program.hpp"

namespace dsea {

/// What the workers of one process share.
struct RunnerEnvironment {
  const WorkerProgram& program;
  const Problem& problem;
  const Topology& topology;
  const Device& device;
  std::mutex& mutex;  ///< guards machine, slots
  StageMachine& machine;
  Slots& slots;
  Ledger& ledger;
  SnapshotPool& snapshots;
  /// Where stages run one after the other in the caller: the scratch memory that all workers use, so that it stays in
  /// the cache. Made by the first of them.
  std::shared_ptr<Buffer> common_scratch;
  Signal& wake_main;    ///< notified when an async host stage is done
  Signal& wake_output;  ///< notified when something may go ahead of its slice
  std::int64_t feedback_delay = 1;
  std::int64_t table_every = 0;
  SnapshotSteps snapshot_steps;
};

/// What a finished stage leaves to be done.
struct FinishedStage {
  StageJob job;
  double kernel_seconds = 0;
  std::array<double, max_phases> phase_seconds{};
  bool ledger_row = false;  ///< the ledger has a new row
  bool snapshot = false;    ///< the io thread has a slice to write
};

/// One worker. Used by the main thread alone.
class StageRunner {
 public:
  /// `bundles`: regions for slices in filling, see RingPlan::region_sets.
  StageRunner(RunnerEnvironment& environment, int worker, int depth, int bundles);
  ~StageRunner() { settle(); }
  StageRunner(const StageRunner&) = delete;
  StageRunner& operator=(const StageRunner&) = delete;

  /// True if nothing but the state machine can hold the job back: sums of earlier steps are known, a buffer for a
  /// snapshot is free.
  bool prepared(const StageJob& job) const;

  /// Puts the work of a job on the stream. The job has been start()ed; launched() is the caller's too.
  void launch(const StageJob& job);

  /// If the oldest launched stage is done: takes in counts, observables and errors, tells the state machine and frees
  /// slots. Throws what the stage's work threw, faults, overflows.
  std::optional<FinishedStage> retire();

  /// Waits for all launched work, whatever came of it.
  void settle() noexcept;

 private:
  struct Record {
    StageJob job;
    Event begin, end;
    int snapshot = -1;
    bool makes_side = false;
    int entries = 0;
    std::vector<int> entry_slab;
    PhaseMarks marks;
    std::uint64_t* device_words = nullptr;  // [entry][fault, observables]
    std::uint64_t* host_words = nullptr;
    std::int64_t* region_counts = nullptr;
  };

  const Kind* kind_of(const StageJob& job) const;
  std::int64_t step_of(const StageJob& job) const { return environment_.machine.schedule().step(job.substep); }
  bool closing(const StageJob& job) const { return environment_.machine.schedule().is_finish(job.kind); }
  bool starts_step(const StageJob& job) const { return environment_.machine.schedule().starts_step(job.kind); }
  bool wants_snapshot(const StageJob& job) const;
  void take_buffers(const StageJob& job, const Kind* kind, bool makes_side);
  void wait_for_input(const StageJob& job);
  void clear_regions(const StageJob& job);
  void call(StageContext& context, Record& record, int slice, int lane, bool merging);
  void copy_back(const StageJob& job, const Kind* kind, Record& record);
  void check_fault(const Record& record) const;
  void fill_headers(const Record& record, const Kind* kind);
  bool take_observables(const Record& record, const Kind* kind);

  RunnerEnvironment& environment_;
  int worker_;
  int depth_;
  bool feeds_back_ = false;  // some kind uses reduced observables: they are needed at every step
  Stream stream_;
  Contributions contributions_;
  std::shared_ptr<Buffer> scratch_;
  std::size_t reduce_bytes_ = 0;
  Buffer device_block_;  // start values of observables and faults, then a copy a record
  Buffer host_block_;
  std::size_t entry_words_ = 0;
  std::size_t block_words_ = 0;
  std::vector<Record> records_;
  std::int64_t launched_ = 0;
  std::int64_t retired_ = 0;
  SlabSums sums_;
};

}  // namespace dsea
