// The io thread: makes slices for the start, writes snapshots, hands out rows of the table.
#include "dsea/base/check.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

void Ring::io_role() {
  if (rank_ > 0) load_for_first_rank();
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

void Ring::load_for_first_rank() {
  HostSlice staging(device_, problem_.layout, topology_.lanes(), true);
  SendPort& port = transport_.load_to_first();
  const auto wait = [&] {
    // Snapshots go on meanwhile: the ring may need their buffers to take the slice in.
    while (!port.wait(std::chrono::milliseconds(20))) {
      check_stop();
      write_snapshots();
    }
  };
  for (int slice = rank_; slice < topology_.slices(); slice += transport_.size()) {
    io_status_.set("makes a slice of the start", slice);
    SliceHeader header;
    header.layout_hash = problem_.layout.hash();
    header.slice = slice;
    header.dt = problem_.dt;
    const RawField* lanes[max_lanes] = {};
    for (int lane = 0; lane < topology_.lanes(); ++lane) {
      RawField* fields = staging.blank(lane);
      const int slab = topology_.slab(slice, lane);
      if (slab >= 0) init_slab(slab, fields);
      for (int f = 0; f < problem_.layout.size(); ++f) header.counts[f][lane] = *fields[f].count;
      lanes[lane] = fields;
    }
    io_status_.set("sends a slice of the start to rank 0", slice);
    const Segment head{&header, sizeof header, false};
    port.start({&head, 1});
    wait();
    std::vector<Segment> body = body_segments(travelling_fields(problem_.layout), header, lanes);
    for (Segment& s : body) s.on_device = false;
    port.start(body);
    wait();
    ++report_.loaded;
    moved();
  }
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
