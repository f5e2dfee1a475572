// Everything about a ring that is known before it is built: slots, bytes, how many processes are worth it, and how long
// a stage will take. Pure arithmetic on numbers: needs no device, no ranks, no data.
//
// Slots (what keeps a ring from blocking for ever; tests sweep the edge):
//   - every slot ring has at least min(2 out + 2 in + 1, N) slots: out of the sub-step that writes it, in of the one
//   that
//     reads it next, the network counting as order 0; N slices;
//   - all slots of all processes together are at least Schedule::slots_needed(), about N + 1 + the sum of (in + out)
//   along
//     the ring. Where these lie does not matter; the plan puts what is missing into the input rings of the processes.
// At this edge a single free slot wanders through the ring, and nearly everybody waits for it (`fewest`, for tests).
// `automatic` adds `depth` slots to every ring, which is all that the full rate needs.
//
// Processes: slices circulate, so N slices keep only so many processes busy. With s = the sum of (in + out) over the W
// workers of a process (their mean over the ring, if kinds differ),
//   N_max = N / (2 + s)        workers of a process take turns
//   N_max = N / (1 + s + W)    workers of a process run at once (each sees what was ready when the stage began)
// The 2 is the stage of the work and that of the transfer, the 1 the transfer's alone. The part of a transfer that goes
// ahead of its slice (final_fields.hpp) is over when the slice is complete, so only the rest of that stage counts:
//   N_max = N / (2 - a + s)  or  N / (1 - a + s + W),   a = mean of min(e, out + 1)   (out + 1/W where they take turns)
// with e, the share of a slice's bytes that goes ahead, and `out` of the last worker's kind, whose work on the slice
// begins so long before the slice is complete. With e towards 1 the transfer takes next to none of the lag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsea/base/error.hpp"
#include "dsea/ring/program.hpp"
#include "dsea/ring/schedule.hpp"
#include "dsea/ring/stage_machine.hpp"
#include "dsea/ring/topology.hpp"

namespace dsea {

/// The schedule of a problem's kinds along `positions` places.
Schedule make_schedule(const Problem& problem, std::int64_t steps, int positions);

/// How the number of busy processes follows from the number of slices.
struct ScalingModel {
  int slices = 1;
  int workers = 1;       ///< of a process
  double order_sum = 0;  ///< sum of (in + out) over the workers of a process, mean over the processes
  bool at_once = false;  ///< workers of a process run at once; otherwise they take turns, the first one first

  /// The kind of a process's last worker, as far as transfers go.
  struct End {
    double ahead = 0;  ///< share of a slice's bytes that goes ahead of the slices that it makes, 0..1
    int out = 0;
  };
  std::vector<End> ends;  ///< of the processes, in turn; empty: nothing goes ahead

  /// The model of a program.
  static ScalingModel of(const Problem& problem, int slices, int workers, bool at_once);

  /// How much of a transfer that takes `link` is over when its slice is complete, on average; `work` is what a process
  /// takes for a slice, `stage` the time between two slices. In stages, or in seconds.
  double ahead(double link, double work, double stage) const;
  /// Stages, hence slices, that a process is behind the one before it. A link counts as slow as a stage.
  double lag() const { return (at_once ? 1 + workers : 2) - ahead(1, 1, 1) + order_sum; }
  double n_max() const { return slices / lag(); }
  /// Share of the time in which a process has something to do, 0..1. A single process whose workers take turns always
  /// has.
  double efficiency(int processes) const;
  /// Rate in units of one busy worker: min(P, N_max) x W.
  double relative_throughput(int processes) const { return efficiency(processes) * processes * workers; }
};

/// Who decides on the number of slots.
enum class SlotChoice {
  automatic,  ///< the plan: enough for the full rate
  fewest,     ///< the plan: exactly the edge (tests): many times slower
  given,      ///< PlanRequest::slots_per_ring
};

/// What keeps a ring from being faster.
enum class Limit {
  slices,  ///< too few for so many processes: some wait for their turn
  work,    ///< the workers are always busy
  link,    ///< moving a slice takes longer than working on it
};

/// What is wanted of a ring.
struct PlanRequest {
  std::int64_t steps = 0;
  int processes = 1;
  int workers = 1;  ///< of a process
  SlotChoice slots = SlotChoice::automatic;
  int slots_per_ring = 0;             ///< with SlotChoice::given: of every slot ring
  bool at_once = false;               ///< workers of a process run at once (CUDA) or take turns (host)
  int depth = 1;                      ///< stages a worker may have under way
  std::int64_t feedback_delay = 1;    ///< [run] feedback_delay, full steps
  int snapshot_buffers = 0;           ///< slices of snapshots a process may have under way
  int staging_slices = 0;             ///< slices in pinned host memory, for transports that cannot see the device
  std::optional<std::size_t> memory;  ///< bytes one process may use on its device; none: not checked
  bool only_warn = false;             ///< of too little memory: the plan is for another machine, perhaps
  std::optional<double> rate;         ///< elements x worker-steps per second of one process; none: assumed
  int cores = 0;                      ///< of a process, if its workers run on host threads: for an assumed rate
  std::optional<double> bandwidth;    ///< bytes per second of one link; none: assumed
};

/// One line of the table of bytes.
struct MemoryRow {
  std::string what;
  std::int64_t count = 0;
  std::size_t bytes_each = 0;
  bool pinned_host = false;  ///< not on the device
  std::size_t bytes() const { return static_cast<std::size_t>(count) * bytes_each; }
};

/// A plan that cannot be, for a reason that a key of the configuration can mend.
class PlanRefused : public UsageError {
 public:
  PlanRefused(std::string key, const std::string& message) : UsageError(message), key_(std::move(key)) {}
  const std::string& key() const { return key_; }  ///< "ring.slots"

 private:
  std::string key_;
};

class RingPlan {
 public:
  /// What is assumed where a request names no rate or bandwidth.
  static constexpr double assumed_rate = 1e8;        // elements x worker-steps per second, see Problem::core_rate
  static constexpr double assumed_bandwidth = 10e9;  // bytes per second

  /// Throws PlanRefused for too few slots and for a feedback delay that would wait for ever, UsageError for too little
  /// memory; each says what would do. Also calls problem.check().
  RingPlan(const Problem& problem, const PlanRequest& request);

  const PlanRequest& request() const { return request_; }
  const Topology& topology() const { return topology_; }
  const Schedule& schedule() const { return schedule_; }
  const ScalingModel& scaling() const { return scaling_; }

  // --- slots and buffers -------------------------------------------------------------------------------------------
  bool one_process() const { return request_.processes == 1; }
  int positions() const { return request_.processes * request_.workers; }
  /// Slot rings of a process: workers + 1, or workers in a ring of one process.
  int rings() const { return request_.workers + (one_process() ? 0 : 1); }
  int slots(int process, int ring) const { return slots_[index(process, ring)]; }
  /// What the state machine of a process is made with.
  StageMachine::Setup setup(int process) const;
  int slots_of(int process) const;    ///< in all rings of a process
  std::int64_t slots_in_all() const;  ///< of all processes
  std::int64_t slots_needed_in_all() const;
  int slots_needed(int process, int ring) const;  ///< of one ring, whatever the others have

  /// Buffers of a field on a process, each for one slice (all lanes). A field that travels: one a slot. A side field:
  /// one a slot of the rings between the workers of the process, and one for each stage that the last worker has under
  /// way if it makes side fields itself (it is the only one, or Problem::side_every is set).
  int buffers(int process, int field) const;
  /// Sets of contribution regions a worker needs, each for one slice: as many as it writes at a time; 0 if its position
  /// never contributes. Items of a ring use them in turn: item % region_sets.
  int region_sets(int process, int worker) const;
  /// Bytes of one such set: for every field and source offset the largest region of all kinds that come to this
  /// position, each padded to 64, all lanes.
  std::size_t region_set_bytes(int process, int worker) const;

  // --- bytes -------------------------------------------------------------------------------------------------------
  std::vector<MemoryRow> memory(int process) const;
  std::size_t bytes(int process) const;  ///< on the device, pinned host memory not counted
  int largest_process() const;           ///< the one that needs most
  /// Bytes of a full slice on the wire; what is not live does not travel. Where a part goes ahead, a second header
  /// comes on top.
  std::size_t wire_bytes() const { return wire_bytes_; }

  // --- rates -------------------------------------------------------------------------------------------------------
  double n_max() const { return scaling_.n_max(); }
  double efficiency() const { return scaling_.efficiency(request_.processes); }
  double relative_throughput(int processes) const { return scaling_.relative_throughput(processes); }
  /// All rates are 0 if the problem does not state its number of elements.
  double rate() const;                ///< elements x worker-steps per second of one process, given or assumed
  double stage_work_seconds() const;  ///< of one process: every worker advances one slice
  double stage_link_seconds() const;  ///< one full slice over one link; 0 in a ring of one process
  double stage_seconds() const;       ///< the larger of both: they overlap
  double fill_seconds() const;        ///< until the last worker has started; the ring drains in the same time
  double run_seconds() const;         ///< all steps
  Limit limit() const;                ///< of the steady part; links and work count only where N_max does not
  double steady_rate() const;         ///< elements x steps per second of all processes, without filling and draining
  /// Seconds from a slice's start in one process to its start in the next, at the times above.
  double lag_seconds() const;
  /// Processes kept busy at the times above: N_max, which counts a link as slow as a stage, is the least of it. With
  /// links that take no time it is N / (1 + s) where workers take turns.
  double n_max_expected() const;

  // --- for people ----------------------------------------------------------------------------------------------------
  /// One sentence each: what is slow but right.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// What --plan prints.
  std::string text() const;

 private:
  std::size_t index(int process, int ring) const {
    return static_cast<std::size_t>(process) * static_cast<std::size_t>(rings()) + static_cast<std::size_t>(ring);
  }
  int position(int process, int worker) const { return process * request_.workers + worker; }
  /// Kinds with contributions that come to a position.
  std::vector<const Kind*> contributing_kinds(int position) const;
  void check_feedback() const;
  void plan_slots();
  void check_given_slots() const;
  void check_memory();
  void collect_warnings();
  std::string slots_text() const;
  static std::string percent_text(double share);
  std::string bytes_text_of(int process) const;
  std::string rates_text() const;
  std::string limit_text() const;    // plan_limits.cpp, as the next one
  std::string workers_text() const;  // what other numbers of workers would do

  Problem problem_;
  PlanRequest request_;
  Topology topology_;
  Schedule schedule_;
  ScalingModel scaling_;
  std::vector<int> slots_;  // [process][ring]
  std::size_t wire_bytes_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace dsea
