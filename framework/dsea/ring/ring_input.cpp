// The input thread: loads slices at the start, receives them afterwards.
#include "dsea/base/check.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

void Ring::input_role() {
  const SliceLayout& layout = problem_.layout;
  for (;;) {
    std::optional<std::int64_t> item;
    {
      const std::scoped_lock lock(mutex_);
      item = machine_.next_receive();
    }
    if (!item) return;
    wait_for_free_slot(*item);
    Slot& slot = slots_.at(0, *item);
    {
      const std::scoped_lock lock(mutex_);
      machine_.begin_receive();
      for (int f = 0; f < layout.size(); ++f) {
        if (layout[f].travels) slots_.take(slot, f);
      }
    }
    const bool loading = rank_ == 0 && machine_.supercycle(*item) == 0;
    const int loader = machine_.slice(*item) % transport_.size();
    if (!loading)
      receive_slice(*item, slot, transport_.from_previous());
    else if (loader == 0)
      load_slice(*item, slot);
    else
      receive_slice(*item, slot, transport_.load_from_previous());
    {
      const std::scoped_lock lock(mutex_);
      machine_.received();
    }
    moved();
    wake_main_.notify();
  }
}

void Ring::wait_for_free_slot(std::int64_t item) {
  for (;;) {
    const std::uint64_t seen = wake_input_.now();
    {
      const std::scoped_lock lock(mutex_);
      if (machine_.can_receive()) return;
    }
    input_status_.set("waits for a free slot", item);
    wake_input_.wait_past(seen, std::chrono::milliseconds(100));
    check_stop();
  }
}

void Ring::init_slab(int slab, RawField* fields) const {
  const SliceLayout& layout = problem_.layout;
  program_.init(slab, SlabOut(&layout, fields));
  for (int f = 0; f < layout.size(); ++f) {
    if (!layout[f].travels || (*fields[f].count >= 0 && *fields[f].count <= layout[f].capacity)) continue;
    throw UsageError(cat("slab ", slab, " of the start has ", *fields[f].count, " elements of field '", layout[f].name,
                         "', but its capacity is ", layout[f].capacity, ": raise the capacity, or use more slabs"));
  }
}

SliceHeader Ring::start_header(int slice) const {
  SliceHeader header;
  header.layout_hash = problem_.layout.hash();
  header.slice = slice;
  header.dt = problem_.dt;
  return header;
}

void Ring::load_slice(std::int64_t item, Slot& slot) {
  input_status_.set("makes a slice of the start", item);
  const SliceLayout& layout = problem_.layout;
  const int slice = machine_.slice(item);
  slot.header = start_header(slice);
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    RawField* target = slot.raw[static_cast<std::size_t>(lane)].data();
    RawField* made = input_staging_.copies() ? input_staging_.blank(lane) : target;
    for (int f = 0; f < layout.size(); ++f) {
      if (layout[f].travels) *made[f].count = layout[f].fixed ? layout[f].capacity : 0;
    }
    const int slab = topology_.slab(slice, lane);
    if (slab >= 0) init_slab(slab, made);
    for (int f = 0; f < layout.size(); ++f) {
      if (!layout[f].travels) continue;
      slot.header.counts[f][lane] = *made[f].count;
      slots_.pools().host_counts(f, slot.buffer[static_cast<std::size_t>(f)])[lane] = *made[f].count;
    }
    if (input_staging_.copies()) input_staging_.put(lane, target);
  }
  ++report_.loaded;
}

void Ring::receive_slice(std::int64_t item, Slot& slot, ReceivePort& port) {
  input_status_.set("receives", item);
  const SliceLayout& layout = problem_.layout;
  SliceHeader& header = slot.header;
  const bool loading = rank_ == 0 && machine_.supercycle(item) == 0;
  const std::int64_t substep =
      loading ? 0 : machine_.schedule().substep(machine_.setup().first_position, machine_.supercycle(item));
  // Slices of the start come through another kind of port, which may know no device memory.
  const bool staged = input_staging_.copies() && (loading || !transport_.takes_device_memory());
  FieldMask fields = travelling_fields(layout);
  receive_header(item, substep, header, port);
  if (header.magic == SliceHeader::ahead_value) {
    const FieldMask ahead = loading ? 0 : final_fields(problem_, machine_.schedule(), substep - 1);
    DSEA_CHECK(ahead != 0 && header.flags == ahead, "other fields went ahead of a slice than may");
    receive_fields(ahead, header, slot, staged, port);
    fields &= ~ahead;
    input_status_.set("has what went ahead, receives the rest", item);
    const SliceHeader first = header;
    receive_header(item, substep, header, port);
    DSEA_CHECK_EQ(header.magic, SliceHeader::magic_value, "two parts went ahead of a slice");
    for (int f = 0; f < layout.size(); ++f) {
      for (int lane = 0; lane < topology_.lanes() && (ahead & bit_of(f)) != 0; ++lane) {
        if (topology_.slab(machine_.slice(item), lane) < 0) continue;
        DSEA_CHECK_EQ(header.counts[f][lane], first.counts[f][lane], "field '", layout[f].name,
                      "' went ahead of its slice, and was not final");
      }
    }
  }
  receive_fields(fields, header, slot, staged, port);

  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    for (int f = 0; f < layout.size(); ++f) {
      if (!layout[f].travels || layout[f].fixed) continue;
      std::int64_t* host_count = &slots_.pools().host_counts(f, slot.buffer[static_cast<std::size_t>(f)])[lane];
      if (staged)
        *input_staging_.own(lane)[f].count = *host_count;
      else
        input_staging_.copy_bytes(slot.raw[static_cast<std::size_t>(lane)][static_cast<std::size_t>(f)].count,
                                  host_count, sizeof *host_count);
    }
    if (staged) input_staging_.put(lane, slot.raw[static_cast<std::size_t>(lane)].data());
  }

  if (header.ledger_rows > 0) {
    DSEA_CHECK_LE(header.ledger_rows, ledger_.window());
    std::vector<LedgerRow>& rows = rows_in_;
    rows.resize(static_cast<std::size_t>(header.ledger_rows));
    const Segment tail{rows.data(), rows.size() * sizeof(LedgerRow), false};
    transfer(port, {&tail, 1});
    for (const LedgerRow& row : rows) ledger_.add(row);
    collect_rows();
  }
  if (!loading) ++report_.received;
}

void Ring::receive_header(std::int64_t item, std::int64_t substep, SliceHeader& header, ReceivePort& port) {
  const Segment head{&header, sizeof header, false};
  transfer(port, {&head, 1});
  check_header(header, machine_.slice(item), substep);
}

void Ring::check_header(const SliceHeader& header, int slice, std::int64_t substep) const {
  const SliceLayout& layout = problem_.layout;
  if (header.magic != SliceHeader::magic_value && header.magic != SliceHeader::ahead_value) {
    throw RunError("what arrived is no slice header: all ranks must run the same program of the same version");
  }
  if (header.layout_hash != layout.hash()) {
    throw RunError("the slice that arrived has another layout: all ranks must have the same configuration and input");
  }
  DSEA_CHECK_EQ(header.slice, slice, "slices arrived out of order");
  DSEA_CHECK_EQ(header.substep, substep, "a slice of another sub-step arrived");
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    for (int f = 0; f < layout.size(); ++f) {
      const std::int64_t count = header.counts[f][lane];
      if (topology_.slab(slice, lane) < 0 || !layout[f].travels) continue;
      DSEA_CHECK(count >= 0 && count <= layout[f].capacity, "count ", count, " of field '", layout[f].name, "'");
    }
  }
}

void Ring::receive_fields(FieldMask fields, const SliceHeader& header, Slot& slot, bool staged, ReceivePort& port) {
  const SliceLayout& layout = problem_.layout;
  const RawField* lanes[max_lanes] = {};
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    lanes[lane] = staged ? input_staging_.blank(lane) : slot.raw[static_cast<std::size_t>(lane)].data();
    const bool empty = topology_.slab(static_cast<int>(header.slice), lane) < 0;
    for (int f = 0; f < layout.size(); ++f) {
      if ((fields & bit_of(f)) == 0 || layout[f].fixed) continue;  // the counts of fixed fields never change
      slots_.pools().host_counts(f, slot.buffer[static_cast<std::size_t>(f)])[lane] =
          empty ? 0 : header.counts[f][lane];
    }
  }
  std::vector<Segment> body = body_segments(fields, header, lanes);
  for (Segment& s : body) s.on_device = s.on_device && !staged;
  if (!body.empty()) transfer(port, body);
}

}  // namespace dsea
