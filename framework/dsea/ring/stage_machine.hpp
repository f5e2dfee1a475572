// The state machine of one process: what may start now. Pure logic: no threads, no clock, no data.
//
// A process has workers 0..W-1 and slot rings 0..W: ring 0 takes slices from the network (or the loader), worker w
// reads ring w and writes ring w+1, ring W is sent to the next process. In a ring of one process worker W-1 writes ring
// 0.
//
// Slices pass a slot ring in a fixed order for ever: item q is slice q mod N of super-cycle q / N. Hence four counters
// say everything about a ring, free <= complete <= ready <= taken:
//
//     [0, freed)       slot is free again
//     [freed, ready)   ready: may be read by work that waits for the slot's event
//     [freed, complete)  and the host knows that the work is done: counts are known, may be sent
//     [ready, taken)   filling: its slot is taken, contributions are missing
//
// Slot states follow: free, filling, ready, and draining while an item is being sent.
// Not thread safe: the owner locks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsea/ring/schedule.hpp"

namespace dsea {

/// One slice to be advanced by one worker.
struct StageJob {
  int worker = 0;
  int position = 0;
  std::int64_t item = 0;  ///< in the worker's input ring
  std::int64_t supercycle = 0;
  int slice = 0;
  std::int64_t substep = 0;
  int kind = 0;  ///< see Schedule::kind
  Order order;
  std::int64_t out_item = 0;  ///< the same slice in the output ring
  int completes_begin = 0;    ///< slices whose last contribution this stage makes: [begin, end)
  int completes_end = 0;
};

class StageMachine {
 public:
  struct Setup {
    int slices = 1;
    int workers = 1;  ///< of this process
    int first_position = 0;
    bool one_process = false;  ///< the last worker writes ring 0
    std::vector<int> slots;    ///< a ring: workers + 1 of them, or workers if one_process
    int depth = 1;             ///< stages a worker may have launched and not finished
  };

  StageMachine(Setup setup, Schedule schedule);

  // --- workers -------------------------------------------------------------------------------------------------------
  /// The job worker w may start now, or nothing. Jobs of a worker come in order.
  std::optional<StageJob> possible(int worker) const;
  /// The next job of a worker whether or not it may start; nothing when it is through.
  std::optional<StageJob> upcoming(int worker) const;
  /// Takes the output slots. Then the caller launches the work ...
  void start(const StageJob& job);
  /// May be called between both: what the job hands on unchanged is in its output slot, see can_send_ahead(). True if
  /// that has made something ready to go ahead.
  bool announce(const StageJob& job);
  /// ... and says so: its completed slices are ready for work that waits for their event.
  void launched(const StageJob& job);
  /// Whether the worker's oldest launched job may be declared finished: what it read is complete. Without this rule a
  /// slice could be sent, or its slot be used again, before the host has seen to the work that made it, because events
  /// of different workers may be looked at in any order.
  bool may_finish(int worker) const;
  /// The work of the worker's oldest launched job is done, and may_finish(): frees input slots, completes output
  /// slices.
  void finished(int worker);
  int in_flight(int worker) const { return worker_(worker).launched - worker_(worker).finished; }

  // --- input of ring 0 -----------------------------------------------------------------------------------------------
  /// Item to be received (or loaded) next; nothing when all have been.
  std::optional<std::int64_t> next_receive() const;
  bool can_receive() const;  ///< next_receive() and a free slot for it
  void begin_receive();      ///< takes the slot
  void received();           ///< ready and complete

  // --- output of the last ring
  // ----------------------------------------------------------------------------------------
  /// Item of the outgoing ring to be sent next (or handed to the exit); nothing when all have been.
  std::optional<std::int64_t> next_send() const;
  bool can_send() const;  ///< and it is complete
  /// It is not complete, but what the last worker hands on unchanged is there already and may go ahead: it has been
  /// announced, and the host knows that the input it comes from is complete. Whether the worker's kind does hand
  /// something on, the caller knows. The item stays the next one until all of it is sent().
  bool can_send_ahead() const;
  void sent();  ///< frees its slot
  /// True if the item leaves the ring for good: the last super-cycle, behind the last position.
  bool exits(std::int64_t item) const;
  int send_ring() const { return setup_.one_process ? 0 : setup_.workers; }

  // --- looking in
  // -------------------------------------------------------------------------------------------------------
  bool done() const;  ///< every item of every kind has passed
  const Setup& setup() const { return setup_; }
  const Schedule& schedule() const { return schedule_; }
  int out_ring(int worker) const { return setup_.one_process && worker == setup_.workers - 1 ? 0 : worker + 1; }
  std::int64_t out_item(int worker, std::int64_t item) const {
    return out_ring(worker) == 0 ? item + setup_.slices : item;
  }
  int slot(int ring, std::int64_t item) const {
    return static_cast<int>(item % setup_.slots[static_cast<std::size_t>(ring)]);
  }
  std::int64_t supercycle(std::int64_t item) const { return item / setup_.slices; }
  int slice(std::int64_t item) const { return static_cast<int>(item % setup_.slices); }
  std::int64_t taken(int ring) const { return ring_(ring).taken; }
  std::int64_t ready(int ring) const { return ring_(ring).ready; }
  std::int64_t complete(int ring) const { return ring_(ring).complete; }
  std::int64_t freed(int ring) const { return ring_(ring).freed; }

  /// For people: every ring's slots and what each worker waits for, one a line.
  std::string describe() const;

 private:
  struct RingState {
    std::int64_t taken = 0, ready = 0, complete = 0, freed = 0;
  };
  struct WorkerState {
    std::int64_t next = 0;       ///< item to start
    std::int64_t oldest = 0;     ///< item whose work finishes next
    std::int64_t announced = 0;  ///< items before have been announced, if they ever are
    int started = 0, launched = 0, finished = 0;
  };
  RingState& ring_(int r) { return rings_[static_cast<std::size_t>(r)]; }
  const RingState& ring_(int r) const { return rings_[static_cast<std::size_t>(r)]; }
  WorkerState& worker_(int w) { return workers_[static_cast<std::size_t>(w)]; }
  const WorkerState& worker_(int w) const { return workers_[static_cast<std::size_t>(w)]; }
  std::int64_t worker_items() const { return schedule_.supercycles() * setup_.slices; }
  std::int64_t receive_items() const { return setup_.one_process ? setup_.slices : worker_items(); }
  StageJob job(int worker, std::int64_t item) const;
  /// Why the job may not start; empty if it may.
  std::string obstacle(const StageJob& job) const;
  bool still_loading(int ring) const;
  bool may_write(const StageJob& job) const;
  void free_exited();
  std::int64_t last_read(const StageJob& job) const;     // input items needed: one past
  std::int64_t last_written(const StageJob& job) const;  // output items needed: one past

  Setup setup_;
  Schedule schedule_;
  std::vector<RingState> rings_;
  std::vector<WorkerState> workers_;
  std::int64_t send_next_ = 0;
};

}  // namespace dsea
