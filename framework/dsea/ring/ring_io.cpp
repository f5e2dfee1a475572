// The io thread: writes snapshots, hands out rows of the table.
#include "dsea/base/check.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

void Ring::io_role() {
  for (;;) {
    const std::uint64_t seen = wake_io_.now();
    const bool last_round = stages_done_;  // read before looking, so that nothing is missed
    const bool wrote = write_snapshots();
    const bool rows = hand_out_rows();
    if (wrote || rows) continue;
    if (last_round) break;
    check_stop();
    io_status_.set("waits for work");
    wake_io_.wait_past(seen, std::chrono::milliseconds(100));
  }
  check_stop();
  DSEA_CHECK(open_snapshots_.empty(), "a snapshot of step ", open_snapshots_.begin()->first, " lacks slices");
}

bool Ring::write_snapshots() {
  bool wrote = false;
  for (SnapshotPool::Item item = snapshots_.next(); item.buffer >= 0; item = snapshots_.next()) {
    io_status_.set("writes a snapshot", item.slice);
    OpenSnapshot& open = open_snapshots_[item.step];
    if (!open.writer) open.writer = program_.open_snapshot(item.step, options_.out);
    for (int lane = 0; lane < topology_.lanes(); ++lane) {
      const int slab = topology_.slab(item.slice, lane);
      if (slab < 0) continue;
      const RawField* fields = io_staging_.fetch(lane, snapshots_.fields(item.buffer, lane));
      open.writer->slab(slab, SlabIn(&problem_.snapshot, fields));
    }
    snapshots_.release(item.buffer);
    wake_main_.notify();
    moved();
    wrote = true;
    if (++open.slices < topology_.slices()) continue;
    open.writer->close();
    open_snapshots_.erase(item.step);
  }
  return wrote;
}

bool Ring::hand_out_rows() {
  std::vector<LedgerRow> rows;
  {
    const std::scoped_lock lock(rows_mutex_);
    rows.swap(rows_);
  }
  for (const LedgerRow& row : rows) {
    StepSums sums;
    sums.step = row.step;
    sums.time = static_cast<double>(row.step) * problem_.dt;
    sums.values = row.values.data();
    if (options_.on_row) options_.on_row(sums);
  }
  return !rows.empty();
}

}  // namespace dsea
