// What a program says about itself before the ring is built: slabs, layout, kinds of workers, observables.
//
// A user's class has three members the ring cannot do without,
//
//   dsea::Problem problem() const;                  // everything below
//   void init(int slab, dsea::SlabOut out) const;   // the state at step 0 of one slab, on the host
//   void run(dsea::Stage& stage) const;             // one sub-step of one slab; stage.kind() says which kind
//
// and may have these:
//
//   void merge(dsea::Stage&) const;                 // needed by kinds with out > 0: contributions -> final fields
//   void finish(dsea::Stage&) const;                // closing pass after the last step (Problem::finish)
//   void prepare(const dsea::Device&);              // once, before slices flow: upload constant tables
//   std::uint64_t digest(int slab, dsea::SlabIn) const;       // when elements carry ids of their own; host memory
//   std::vector<double> row(const dsea::StepSums&) const;     // one line of the table, as many as Problem::columns
//   std::unique_ptr<dsea::SnapshotWriter> open_snapshot(std::int64_t step, const std::string& folder) const;
//   void close_output(const std::string& folder) const;       // on rank 0, when all ranks have ended well: finishes
//                                                             // what the writers of all steps left in the folder
//   std::string explain(const dsea::Fault&) const;            // words for a code reported by a kernel
//   void load(int feed, std::int64_t step, int slab, void* to) const;   // one slab of a feed, into host memory
//
// Every rank has its own object: every process constructs one from the configuration, and where several ranks are
// threads of one process, the others get copies of it (or construct their own if the class cannot be copied). All
// members except prepare() are const and may be called by several threads at once (init by the input and load threads,
// run by the main thread).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "dsea/device/reduce_op.hpp"
#include "dsea/slice/layout.hpp"

namespace dsea {

/// Largest order a kind may have.
inline constexpr int max_order = 7;

/// What a kind does with a field.
enum class Use {
  write,       ///< run() (or merge()) makes it anew; the default
  read,        ///< reads it, also from neighbours, and hands it on unchanged: never copied
  carry,       ///< does not look at it and hands it on unchanged. As read: final early, see Kind::reads()
  contribute,  ///< run() writes regions for slabs -out..+out, merge() makes the final field of them
};

/// A number per (step, slab) that workers report and the framework reduces over all slabs in a fixed order.
struct Observable {
  int index = -1;
};

/// External data by (step, slab), such as velocity snapshots or an inflow plane. The io thread asks load() for them
/// ahead of time, for a worker anywhere in the ring; the worker gets them by Stage::feed(). See Problem::feed.
template <class T>
struct Feed {
  using value_type = T;
  int index = -1;
};

/// A part of the work of a stage whose time the report shows by itself. See Stage::phase().
struct Phase {
  int index = -1;
};
inline constexpr int max_phases = 12;

/// One kind of worker: a sub-step of the program.
class Kind {
 public:
  /// Reads slabs i-order_in .. i+order_in, writes slabs i-order_out .. i+order_out (0..max_order each).
  explicit Kind(std::string kind_name, int order_in = 1, int order_out = 0)
      : name(std::move(kind_name)), in(order_in), out(order_out) {}

  /// Fields that this kind reads, or (carries()) does not look at, and hands on unchanged. They are final early: where
  /// the kind is a process's last one they travel to the next process while it is still at work on the slice, if they
  /// are a quarter of a slice's bytes or more.
  template <class... T>
  Kind& reads(Field<T>... fields) {
    return set(Use::read, std::initializer_list<int>{fields.index...});
  }
  template <class... T>
  Kind& carries(Field<T>... fields) {
    return set(Use::carry, std::initializer_list<int>{fields.index...});
  }
  /// Regions as large as the field itself for the slab's own contribution; `away` elements for each other slab (0: as
  /// large as the field, which is safe and wasteful). A region that overflows ends the run with an error.
  template <class T>
  Kind& contributes(Field<T> field, std::int64_t away = 0) {
    contributions.push_back({field.index, away});
    return set(Use::contribute, std::initializer_list<int>{field.index});
  }
  /// States that run() or merge() of this kind reports the observable. One kind of every step reports it.
  Kind& observes(Observable o) {
    observed.push_back(o.index);
    return *this;
  }
  /// States that this kind asks for Stage::feed(f, ...).
  template <class T>
  Kind& takes(Feed<T> f) {
    fed.push_back(f.index);
    return *this;
  }
  /// States that this kind asks for Stage::reduced(o).
  Kind& feeds_back(Observable o) {
    feedback.push_back(o.index);
    return *this;
  }

  Use use(int field) const {
    for (const auto& [f, u] : uses) {
      if (f == field) return u;
    }
    return Use::write;
  }

  struct Region {
    int field;
    std::int64_t away;
  };
  std::string name;
  int in;
  int out;
  std::vector<std::pair<int, Use>> uses;
  std::vector<Region> contributions;
  std::vector<int> observed;
  std::vector<int> feedback;
  std::vector<int> fed;

 private:
  Kind& set(Use use, std::initializer_list<int> fields) {
    for (int f : fields) uses.emplace_back(f, use);
    return *this;
  }
};

struct ObservableSpec {
  std::string name;
  ReduceOp op = ReduceOp::sum;
  double start = 0;  ///< what Stage::reduced() gives before step D
};

struct FeedSpec {
  std::string name;
  std::size_t element_bytes = 0;
  std::int64_t elements = 0;  ///< a slab
  int ahead = 0;              ///< levels step .. step + ahead are there
};

struct Problem {
  int slabs = 0;          ///< across the stream axis, numbered from 0
  bool periodic = false;  ///< the stream axis closes on itself: slab slabs-1 is the lower neighbour of slab 0
  double dt = 1;          ///< time of one full step
  SliceLayout layout;
  std::vector<Kind> kinds;     ///< the program: the kinds of one full step, in order; or of several steps
  int program_steps = 1;       ///< full steps that the program covers, each with as many kinds. With 12 a program may
                               ///< do in every 12th step what costs too much in each, as sorting molecules
  std::optional<Kind> finish;  ///< closing pass after the last step; out must be 0
  std::size_t scratch_bytes = 0;  ///< of Stage::scratch(), for one worker; observe() needs none of it
  int side_every = 0;             ///< side fields are also made anew at steps that are a multiple of this (0: never),
                                  ///< for data that lose their meaning then, as when molecules are sorted anew
  double side_cost = 2;           ///< what it costs to make them, in steps of a slab: for the number of workers
  std::int64_t elements = 0;      ///< molecules, cells, particles in all: for rates
  std::string element_name = "elements";
  double core_rate = 0;  ///< elements x worker-steps a second of one host core, about; 0: not known. For --plan only
  std::vector<std::string> columns;  ///< of the table; empty: no table. The framework adds the step in front
  SliceLayout snapshot;              ///< what Stage::snapshot() has room for, a slab; empty: no snapshots
  /// open_snapshot() also serves the steps of [output] profile_every, from this step on. Nothing: that key is refused.
  std::optional<std::int64_t> profiles_from;
  bool last_snapshot = false;  ///< a snapshot of the last step, whatever the periods say; by the closing pass
  std::vector<ObservableSpec> observables;
  std::vector<FeedSpec> feeds;
  std::vector<std::string> phases;

  Phase phase(std::string name) {
    phases.push_back(std::move(name));
    return {static_cast<int>(phases.size()) - 1};
  }
  Observable observable(std::string name, ReduceOp op = ReduceOp::sum, double start = 0) {
    observables.push_back({std::move(name), op, start});
    return {static_cast<int>(observables.size()) - 1};
  }
  template <class T>
  Feed<T> feed(std::string name, std::int64_t elements_per_slab, int ahead = 0) {
    feeds.push_back({std::move(name), sizeof(T), elements_per_slab, ahead});
    return {static_cast<int>(feeds.size()) - 1};
  }

  /// Throws UsageError that says what is wrong: orders, fields, a merge without contributions, ...
  void check() const;
};

/// The reduced observables of one full step, for the table.
struct StepSums {
  std::int64_t step = 0;
  double time = 0;
  const double* values = nullptr;
  double operator[](Observable o) const { return values[o.index]; }
};

/// An error that a kernel reported, for explain().
struct Fault {
  int code = 0;
  std::int64_t element = 0;
  int slab = 0;
  std::int64_t step = 0;
};

}  // namespace dsea
