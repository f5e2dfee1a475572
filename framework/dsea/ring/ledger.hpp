// The reduced observables of recent steps, as far as this process knows them.
//
// A position that ran a step sees all its slabs, so it makes the sums. They travel forward with the last slice of a
// super-cycle: to rank 0, which prints the table, and to the positions that ask for the sums of step t - D.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "dsea/ring/program.hpp"

namespace dsea {

/// Most observables a program may have.
inline constexpr int max_observables = 32;

/// What is known of one step. Plain bytes: sent behind the last slice.
struct LedgerRow {
  std::int64_t step = -1;
  std::uint64_t known = 0;  ///< bit o: observable o is complete
  std::array<double, max_observables> values{};
};

/// Thread safe. Holds the rows of a window of steps; older ones fall out. No allocation after construction.
class Ledger {
 public:
  /// `window`: steps that must be kept, see RingPlan.
  explicit Ledger(std::int64_t window);

  void add(const LedgerRow& row);
  /// What is known of a step; nothing if no observable is, or if it fell out.
  std::optional<LedgerRow> find(std::int64_t step) const;
  /// Rows of steps after `after`, ascending, at most as many as fit into `rows`; how many there are.
  std::size_t collect(std::int64_t after, std::span<LedgerRow> rows) const;
  std::int64_t window() const { return static_cast<std::int64_t>(rows_.size()); }

 private:
  mutable std::mutex mutex_;
  std::vector<LedgerRow> rows_;  // step % size
  std::int64_t newest_ = -1;
};

/// Collects one worker's observables of the current step, slab by slab, and reduces them in the order of slabs, so that
/// the result does not depend on folding or timing. Used by one thread.
class SlabSums {
 public:
  SlabSums(const std::vector<ObservableSpec>& observables, int slabs);
  /// A new step begins.
  void reset();
  /// Adds what one call reported for a slab; run() and merge() may both report.
  void combine(int observable, int slab, double value);
  double reduced(int observable) const;

 private:
  std::vector<ReduceOp> ops_;
  std::size_t slabs_;
  std::vector<double> values_;
};

/// The value that changes nothing: 0, +infinity, -infinity.
double identity(ReduceOp op);
double combine(ReduceOp op, double a, double b);

}  // namespace dsea
