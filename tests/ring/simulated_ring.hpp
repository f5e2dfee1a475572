// A ring of state machines without threads or data: slices are a few 64-bit numbers, workers are hashes of everything
// they may look at, and whatever may happen next happens in random order. Any mistake in order, timing or place changes
// the final numbers, or violates a rule that is checked here on a record of its own, independent of the machine's
// counters.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "dsea/ring/program.hpp"
#include "dsea/ring/schedule.hpp"
#include "dsea/ring/stage_machine.hpp"
#include "dsea/ring/topology.hpp"

namespace dsea::sim {

struct SimKind {
  Order order;
  std::vector<Use> uses;    // a field
  bool observes = false;    // reports the observable
  bool feeds_back = false;  // wants it reduced, of the step feedback_delay before
};

/// A synthetic program on a synthetic data set.
struct SimProgram {
  int slabs = 1;
  bool periodic = false;
  int fields = 1;
  std::vector<SimKind> kinds;
  int program_steps = 1;  // full steps that the kinds cover
  std::optional<SimKind> finish;
  std::int64_t steps = 0;
  std::int64_t feedback_delay = 1;

  const SimKind& kind(int index) const {
    return index == static_cast<int>(kinds.size()) ? *finish : kinds[static_cast<std::size_t>(index)];
  }
  int kinds_a_step() const { return static_cast<int>(kinds.size()) / program_steps; }
  Schedule schedule(int positions) const;
  std::string text() const;
};

/// A random program: 1-4 kinds for 1-3 steps, orders up to `max_order`, with or without contributions, closing pass and
/// feedback.
SimProgram random_program(std::mt19937_64& random, int max_order, int max_slabs, int max_steps);

/// Makes one kind report the observable and others ask for it; returns the smallest delay for which nobody asks before
/// the last slice of the step has come around a ring of that many positions.
std::int64_t add_feedback(SimProgram& program, std::mt19937_64& random, int positions);

using Slab = std::vector<std::uint64_t>;  // a number a field

/// What all fields of all slabs are in the end, and the reduced observable of every step.
struct SimResult {
  std::vector<Slab> slabs;
  std::map<std::int64_t, std::uint64_t> sums;
  bool operator==(const SimResult&) const = default;
};

/// One sweep over the whole data set after the other, without slices, rings or lanes.
SimResult brute_force(const SimProgram& program);

/// A rule was broken: somebody read or wrote a slot at the wrong time.
class Violation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Where the pieces run.
struct SimRing {
  int processes = 1;
  int workers = 1;
  std::vector<std::vector<int>> slots;  // of every ring of every process
  int depth = 1;
  bool values = true;     // false: only who may do what when
  bool obedient = false;  // a job's start, launch and end are one: no work is ever under way
  int rings() const { return workers + (processes == 1 ? 0 : 1); }
};

class SimulatedRing {
 public:
  SimulatedRing(const SimProgram& program, const SimRing& ring, std::uint64_t seed);

  /// Until all is done (true) or nothing can happen any more (false). Throws Violation.
  bool run();
  const SimResult& result() const { return result_; }
  std::string describe() const;
  /// Jobs that only a missing sum kept from starting, counted each time it was looked at.
  std::int64_t waits_for_sums() const { return waits_for_sums_; }
  std::int64_t actions() const { return actions_; }
  /// Slices whose final fields were received before they were complete.
  std::int64_t went_ahead() const { return went_ahead_; }

 private:
  enum class State { free, filling, ready };
  enum class Sending { nothing, ahead, slice };
  using Lanes = std::vector<Slab>;
  struct SimSlot {
    State state = State::free;
    std::int64_t item = -1;
    int contributors = 0;  // jobs that have yet to write to it
    int readers = 0;       // jobs (or the network) that have yet to be done with it
    bool finished = false;
    Lanes values;
    std::map<std::pair<int, int>, std::vector<std::uint64_t>> regions;  // (lane, offset of the source)
  };
  struct Process {
    StageMachine machine;
    std::vector<std::vector<SimSlot>> rings;
    std::vector<std::int64_t> freed;            // slots a ring let go of so far
    std::vector<std::deque<StageJob>> started;  // a worker
    std::vector<std::deque<StageJob>> launched;
    std::vector<std::deque<std::uint64_t>> inputs;  // digest of what each launched job read
    std::map<std::int64_t, std::uint64_t> sums;     // known here
    std::map<std::int64_t, std::vector<std::uint64_t>> observed;
    bool receiving = false;
    Sending sending = Sending::nothing;
    bool went_ahead = false;  // final fields of the item to be sent next
  };
  enum class Act { start, launch, finish, receive, send };
  struct Actor {
    int process;
    Act act;
    int worker;
  };

  SimSlot& slot(int process, int ring, std::int64_t item);
  const SimSlot& filled(int process, int ring, std::int64_t item);
  void take(int process, int ring, std::int64_t item, int contributors);
  void read_done(int process, int ring, std::int64_t item);
  int readers(int process, int ring, std::int64_t item) const;
  bool act(const Actor& actor);
  bool start(int p, int w);
  bool launch(int p, int w);
  bool finish(int p, int w);
  bool receive(int p);
  bool send(int p);
  bool send_ahead(int p);
  void hand_on(int p, const StageJob& job);
  std::vector<int> final_fields(std::int64_t substep) const;
  bool sums_known(int p, const StageJob& job);
  std::uint64_t input_digest(int p, const StageJob& job, int lane);
  void compute(int p, const StageJob& job);
  void merge(int p, const StageJob& job, std::int64_t item);
  void check_counters(int p);
  void wake(int p);
  void wake_all();
  [[noreturn]] void violation(int p, const std::string& what) const;

  SimProgram program_;
  SimRing ring_;
  Topology topology_;
  Schedule schedule_;
  int slices_;
  std::mt19937_64 random_;
  std::vector<Process> processes_;
  std::vector<Actor> actors_;
  std::vector<double> laziness_;  // of every actor
  std::vector<int> awake_;        // actors that may have something to do
  std::vector<char> is_awake_;
  SimResult result_;
  std::vector<char> exited_;
  std::int64_t waits_for_sums_ = 0;
  std::int64_t actions_ = 0;
  std::int64_t went_ahead_ = 0;
};

/// What the initial state of a slab is.
Slab initial(const SimProgram& program, int slab);

}  // namespace dsea::sim
