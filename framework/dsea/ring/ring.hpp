// The ring of one process: its threads, slots and workers. Many rings may live in one address space.
//
// Threads: the caller of run() is the main thread, which asks the state machine and launches stages; the input
// thread loads or receives slices into free slots; the output thread sends ready slots on, or takes in what leaves the
// ring; the load thread makes slices of the start and passes those of others on, as long as that takes; the io thread
// writes snapshots and hands out table rows; the watchdog watches.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dsea/base/log.hpp"
#include "dsea/base/signal.hpp"
#include "dsea/comm/traffic.hpp"
#include "dsea/comm/transport.hpp"
#include "dsea/ring/host_slice.hpp"
#include "dsea/ring/ring_plan.hpp"
#include "dsea/ring/ring_report.hpp"
#include "dsea/ring/role_status.hpp"
#include "dsea/ring/stage_runner.hpp"
#include "dsea/ring/start_slice.hpp"

namespace dsea {

struct RingOptions {
  std::int64_t table_every = 0;   ///< full steps between rows of the table; 0: no table
  SnapshotSteps snapshots;        ///< none if the program has no snapshots
  std::string out = ".";          ///< folder of the snapshots
  double watchdog_seconds = 120;  ///< without any progress the job is ended
  /// On rank 0: gets the rows of the table in the order of steps, from the io thread. May be empty.
  std::function<void(const StepSums&)> on_row;
};

/// Thrown by Ring::run() when the run failed; the cause has been logged where it happened.
class RingFailed : public RunError {
 public:
  RingFailed(const std::string& message, ExitCode code) : RunError(message, code) {}
};

/// Thrown by Ring::run() when this rank stopped because another one failed.
class PeerFailed : public RingFailed {
 public:
  using RingFailed::RingFailed;
};

class Ring {
 public:
  /// Allocates everything. All arguments but the options outlive the ring. `plan` is the same on every rank.
  Ring(WorkerProgram& program, const Problem& problem, const RingPlan& plan, const RingOptions& options,
       const Device& device, Transport& transport, const Log& log);
  ~Ring();

  /// All steps. Returns the reports of all ranks on rank 0 (elsewhere only the own one). The caller becomes the main
  /// thread. May be called once. Throws RingFailed.
  RingOutcome run();

  /// Ranks are processes, one has failed, and this one has said what it knows of it. Any thread.
  bool has_said_stop() const { return said_stop_; }
  /// What is known of that, see Transport::failure(). Any thread.
  std::string failure() const { return transport_.failure(); }

  /// Slot states and what each thread waits for; any thread, also while run() hangs.
  std::string describe() const;

 private:
  struct Stopped {};  // unwinds a thread because another one failed

  // roles; each in a file of its own
  void main_role();
  void input_role();
  void output_role();
  void load_role();
  void io_role();
  void watchdog_role();

  // main
  bool launch_something();
  // input
  void wait_for_free_slot(std::int64_t item);
  void load_slice(std::int64_t item, Slot& slot);
  void receive_slice(std::int64_t item, Slot& slot, ReceivePort& port);
  void receive_header(std::int64_t item, std::int64_t substep, SliceHeader& header, ReceivePort& port);
  void receive_fields(FieldMask fields, const SliceHeader& header, Slot& slot, bool staged, ReceivePort& port);
  void check_header(const SliceHeader& header, int slice, std::int64_t substep) const;
  // output
  bool wait_for_complete(std::int64_t item, bool or_final);
  void exit_slice(std::int64_t item, Slot& slot);
  void send_ahead(std::int64_t item, const Slot& slot, FieldMask fields);
  void send_slice(std::int64_t item, Slot& slot, FieldMask fields);
  std::int64_t substep_sent(std::int64_t item) const;
  void send_fields(FieldMask fields, SliceHeader& header, const Slot& slot);
  // load
  void make_start(int slice, StartSlice& start);
  void receive_start(int slice, StartSlice& start);
  void send_start(StartSlice& start);
  std::vector<Segment> start_segments(StartSlice& start) const;
  // io
  bool write_snapshots();
  bool hand_out_rows();

  // shared helpers
  void collect_rows();
  std::vector<Segment> body_segments(FieldMask fields, const SliceHeader& header, const RawField* const* lanes) const;
  template <class Port>
  bool wait_for(Port& port);
  void transfer(SendPort& port, std::span<const Segment> segments, Connection connection = ring_connection);
  void transfer(ReceivePort& port, std::span<const Segment> segments);
  void init_slab(int slab, RawField* fields) const;
  SliceHeader start_header(int slice) const;
  template <class Role>
  void guarded(RoleStatus& status, Role role);
  void fail(const RoleStatus& status, const std::string& what, ExitCode code);
  void say_stop();
  std::string rails_text() const;
  void stop_if_peer_failed(const RunError& error) const;
  bool stopping() const;
  void check_stop() const;
  void throw_if_failed();
  void moved() { progress_.fetch_add(1, std::memory_order_relaxed); }
  RingOutcome gather_reports();

  WorkerProgram& program_;
  const Problem& problem_;
  const RingPlan& plan_;
  RingOptions options_;
  const Device& device_;
  Transport& transport_;
  const Log& log_;
  const Topology& topology_;
  int rank_;

  // Before the runners: stages under way notify it until their streams are gone.
  Signal wake_main_, wake_input_, wake_output_, wake_io_, watchdog_wake_;
  mutable std::mutex mutex_;  // machine_, slots_
  StageMachine machine_;
  Slots slots_;
  Ledger ledger_;
  SnapshotPool snapshots_;
  std::unique_ptr<RunnerEnvironment> environment_;
  std::vector<std::unique_ptr<StageRunner>> runners_;
  HostSlice input_staging_;
  HostSlice output_staging_;
  HostSlice io_staging_;
  // What ports may hold on to after an error, beside slots and staging; each of one thread.
  SliceHeader ahead_header_;                             // output
  std::vector<LedgerRow> rows_out_, rows_in_;            // output, input
  std::unique_ptr<StartSlice> own_start_, other_start_;  // load; none when that is over

  RoleStatus main_status_{"main"}, input_status_{"input"}, output_status_{"output"}, load_status_{"load"},
      io_status_{"io"};
  std::atomic<std::uint64_t> progress_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> said_stop_{false};
  std::atomic<bool> stages_done_{false};
  std::atomic<bool> threads_done_{false};
  mutable std::mutex error_mutex_;
  std::string first_error_;
  ExitCode error_code_ = ExitCode::failed;

  // table rows on their way to the io thread (rank 0)
  std::mutex rows_mutex_;
  std::vector<LedgerRow> rows_;
  std::int64_t next_row_ = 0;
  std::uint64_t row_mask_ = 0, last_row_mask_ = 0;

  struct OpenSnapshot {
    std::unique_ptr<SnapshotWriter> writer;
    int slices = 0;
  };
  std::map<std::int64_t, OpenSnapshot> open_snapshots_;

  int last_launched_ = 0;  // worker; main thread only
  RankReport report_;
};

}  // namespace dsea
