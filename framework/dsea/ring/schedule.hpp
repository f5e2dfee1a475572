// Which kind of worker runs where and when: the program repeated along the ring and over the super-cycles.
//
// Position k runs sub-step c x positions + k in super-cycle c. The kinds of a program of L kinds follow each other, so
// sub-step s runs kind s mod L; after the last step comes the closing pass, if the program has one; from then on slices
// are handed on unchanged to the end of the super-cycle. A program covers one full step, or several of as many kinds
// each. Pure arithmetic; thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace dsea {

/// How many neighbour slabs on each side are read and written.
struct Order {
  int in = 0;
  int out = 0;
  bool operator==(const Order&) const = default;
};

class Schedule {
 public:
  static constexpr int hand_on = -1;  ///< kind of a sub-step past the end

  /// `kinds`: the program; `finish`: the closing pass; `steps`: full steps of the run (any number, 0 included);
  /// `program_steps`: full steps that the program covers.
  Schedule(std::vector<Order> kinds, std::optional<Order> finish, std::int64_t steps, int positions,
           int program_steps = 1);

  int positions() const { return positions_; }
  int kinds() const { return static_cast<int>(kinds_.size()); }  ///< of the program
  int kinds_a_step() const { return kinds() / program_steps_; }  ///< of one full step
  std::int64_t steps() const { return steps_; }
  bool has_finish() const { return finish_.has_value(); }

  /// Sub-steps that do something: steps x kinds a step, and the closing pass.
  std::int64_t substeps() const { return substeps_; }
  /// How often all slices go around; at least once, so that they reach the exit.
  std::int64_t supercycles() const { return supercycles_; }

  std::int64_t substep(int position, std::int64_t supercycle) const { return supercycle * positions_ + position; }
  /// Index of the kind; kinds() for the closing pass; hand_on past the end.
  int kind(std::int64_t substep) const;
  /// Full steps behind the input of a sub-step; never more than steps().
  std::int64_t step(std::int64_t substep) const;
  Order order(std::int64_t substep) const;
  bool is_finish(int kind) const { return kind == kinds(); }
  /// The kind sees the state of a full step: it is the first one of a step, or the closing pass.
  bool starts_step(int kind) const { return kind != hand_on && kind % kinds_a_step() == 0; }

  /// Largest orders a position ever has.
  Order largest_order(int position) const;
  /// Largest slot need 2 out + 2 in + 1 of a ring between a writer at `position` and the reader that follows it, over
  /// all super-cycles: both at consecutive sub-steps. The network reads and writes with order 0; what is loaded into
  /// the ring behind the last position comes from it, too.
  int ring_need(int writer_position, bool writer_is_network, bool reader_is_network) const;
  /// Slots that all rings together need, beside what each ring needs; with one less the ring blocks. N + 1 + the
  /// largest sum of min(in + out, N - 1) over any `positions` consecutive sub-steps: a worker that waits for space
  /// holds in + out slices twice, and workers may be in two super-cycles at a time. 0 if the run ends before slices
  /// come around.
  int slots_needed(int slices, bool one_process) const;
  /// Mean of (in + out) over the kinds of the program.
  double mean_order_sum() const;

 private:
  /// Super-cycles after which the kinds at all positions repeat, and one more for the end of the run.
  std::vector<std::int64_t> distinct_supercycles() const;

  std::vector<Order> kinds_;
  std::optional<Order> finish_;
  std::int64_t steps_;
  int positions_;
  int program_steps_;
  std::int64_t substeps_;
  std::int64_t supercycles_;
};

}  // namespace dsea
