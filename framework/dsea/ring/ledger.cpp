#include "dsea/ring/ledger.hpp"

#include <algorithm>

namespace dsea {

double identity(ReduceOp op) {
  switch (op) {
    case ReduceOp::min:
      return Minimum::identity;
    case ReduceOp::max:
      return Maximum::identity;
    case ReduceOp::sum:
      break;
  }
  return Sum::identity;
}

double combine(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::min:
      return Minimum{}(a, b);
    case ReduceOp::max:
      return Maximum{}(a, b);
    case ReduceOp::sum:
      break;
  }
  return a + b;
}

Ledger::Ledger(std::int64_t window) : rows_(static_cast<std::size_t>(std::max<std::int64_t>(1, window))) {}

void Ledger::add(const LedgerRow& row) {
  if (row.step < 0 || row.known == 0) return;
  const std::scoped_lock lock(mutex_);
  LedgerRow& mine = rows_[static_cast<std::size_t>(row.step) % rows_.size()];
  if (mine.step > row.step) return;  // a late copy of what fell out
  if (mine.step < row.step) mine = LedgerRow{row.step, 0, {}};
  for (int o = 0; o < max_observables; ++o) {
    if ((row.known >> o) & 1U) mine.values[static_cast<std::size_t>(o)] = row.values[static_cast<std::size_t>(o)];
  }
  mine.known |= row.known;
  newest_ = std::max(newest_, row.step);
}

std::optional<LedgerRow> Ledger::find(std::int64_t step) const {
  if (step < 0) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  const LedgerRow& row = rows_[static_cast<std::size_t>(step) % rows_.size()];
  if (row.step != step) return std::nullopt;
  return row;
}

std::size_t Ledger::collect(std::int64_t after, std::span<LedgerRow> rows) const {
  const std::scoped_lock lock(mutex_);
  std::size_t n = 0;
  const std::int64_t first = std::max({after + 1, newest_ - window() + 1, std::int64_t{0}});
  for (std::int64_t step = first; step <= newest_ && n < rows.size(); ++step) {
    const LedgerRow& row = rows_[static_cast<std::size_t>(step) % rows_.size()];
    if (row.step == step) rows[n++] = row;
  }
  return n;
}

SlabSums::SlabSums(const std::vector<ObservableSpec>& observables, int slabs)
    : slabs_(static_cast<std::size_t>(slabs)), values_(observables.size() * slabs_) {
  for (const ObservableSpec& o : observables) ops_.push_back(o.op);
  reset();
}

void SlabSums::reset() {
  for (std::size_t o = 0; o < ops_.size(); ++o) {
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(o * slabs_), slabs_, identity(ops_[o]));
  }
}

void SlabSums::combine(int observable, int slab, double value) {
  double& mine = values_[static_cast<std::size_t>(observable) * slabs_ + static_cast<std::size_t>(slab)];
  mine = dsea::combine(ops_[static_cast<std::size_t>(observable)], mine, value);
}

double SlabSums::reduced(int observable) const {
  const auto o = static_cast<std::size_t>(observable);
  double result = identity(ops_[o]);
  for (std::size_t i = 0; i < slabs_; ++i) result = dsea::combine(ops_[o], result, values_[o * slabs_ + i]);
  return result;
}

}  // namespace dsea
