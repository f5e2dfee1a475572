// The output thread: sends complete slices to the next rank, ahead of them what is final before, and takes in what
// leaves the ring.
#include <algorithm>
#include <thread>

#include "dsea/ring/ring.hpp"

namespace dsea {

void Ring::output_role() {
  const int ring = machine_.send_ring();
  for (;;) {
    std::optional<std::int64_t> item;
    {
      const std::scoped_lock lock(mutex_);
      item = machine_.next_send();
    }
    if (!item) return;
    Slot& slot = slots_.at(ring, *item);
    const bool exits = machine_.exits(*item);
    const FieldMask ahead = exits ? 0 : final_fields(problem_, machine_.schedule(), substep_sent(*item) - 1);
    FieldMask fields = travelling_fields(problem_.layout);
    if (!wait_for_complete(*item, ahead != 0)) {
      // All items before have been sent, so nothing complete waits behind this one. Nor does the ring wait for it: the
      // slot at the other end can take no other item, and what completes this one needs no slot that it holds.
      send_ahead(*item, slot, ahead);
      fields &= ~ahead;
      wait_for_complete(*item, false);
    }
    if (exits)
      exit_slice(*item, slot);
    else
      send_slice(*item, slot, fields);
    {
      const std::scoped_lock lock(mutex_);
      const std::int64_t first = machine_.freed(ring);
      machine_.sent();
      for (std::int64_t i = first; i < machine_.freed(ring); ++i) slots_.release(slots_.at(ring, i));
    }
    moved();
    wake_main_.notify();
  }
}

// True when the item is complete; false if it is not, and its final fields may go ahead.
bool Ring::wait_for_complete(std::int64_t item, bool or_final) {
  for (;;) {
    const std::uint64_t seen = wake_output_.now();
    {
      const std::scoped_lock lock(mutex_);
      if (machine_.can_send()) return true;
      if (or_final && machine_.can_send_ahead()) return false;
    }
    output_status_.set("waits for a complete slice", item);
    wake_output_.wait_past(seen, std::chrono::milliseconds(100));
    check_stop();
    transport_.check_to_next();  // small transfers are over here before they arrive
  }
}

void Ring::exit_slice(std::int64_t item, Slot& slot) {
  output_status_.set("takes the digest", item);
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    const int slab = topology_.slab(machine_.slice(item), lane);
    if (slab < 0) continue;
    const RawField* fields = output_staging_.fetch(lane, slot.raw[static_cast<std::size_t>(lane)].data());
    report_.digest += program_.digest(problem_.layout, slab, fields);
  }
  report_.step = slot.header.step;
  ++report_.exited;
}

std::vector<Segment> Ring::body_segments(FieldMask fields, const SliceHeader& header,
                                         const RawField* const* lanes) const {
  std::vector<Segment> segments;
  segments.reserve(std::size_t{max_fields} * max_lanes);
  const bool on_device = device_.is_cuda() && transport_.takes_device_memory();
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    if (topology_.slab(static_cast<int>(header.slice), lane) < 0) continue;
    for (int f = 0; f < problem_.layout.size(); ++f) {
      if ((fields & bit_of(f)) == 0) continue;
      const std::size_t bytes = problem_.layout[f].element_bytes * static_cast<std::size_t>(header.counts[f][lane]);
      segments.push_back({lanes[lane][f].data, bytes, on_device});
    }
  }
  return segments;
}

std::int64_t Ring::substep_sent(std::int64_t item) const {
  const StageMachine::Setup& setup = machine_.setup();
  return machine_.schedule().substep(setup.first_position + setup.workers, machine_.supercycle(item));
}

void Ring::send_ahead(std::int64_t item, const Slot& slot, FieldMask fields) {
  output_status_.set("sends ahead what is final", item);
  SliceHeader& header = ahead_header_;  // that of the slot is written when the slice is complete
  header = SliceHeader{};
  header.magic = SliceHeader::ahead_value;
  header.layout_hash = problem_.layout.hash();
  header.slice = machine_.slice(item);
  header.substep = substep_sent(item);
  header.flags = fields;
  for (int f = 0; f < problem_.layout.size(); ++f) {
    if ((fields & bit_of(f)) == 0) continue;
    const std::int64_t* counts = slots_.pools().host_counts(f, slot.buffer[static_cast<std::size_t>(f)]);
    std::copy_n(counts, topology_.lanes(), header.counts[f]);
  }
  send_fields(fields, header, slot);
  ++report_.sent_ahead;
  moved();
}

void Ring::send_slice(std::int64_t item, Slot& slot, FieldMask fields) {
  output_status_.set("sends", item);
  SliceHeader& header = slot.header;
  std::vector<LedgerRow>& rows = rows_out_;
  rows.clear();
  if (machine_.slice(item) == topology_.slices() - 1) {
    rows.resize(static_cast<std::size_t>(ledger_.window()));
    rows.resize(ledger_.collect(-1, rows));
  }
  header.ledger_rows = static_cast<std::int64_t>(rows.size());
  send_fields(fields, header, slot);
  if (!rows.empty()) {
    const Segment tail{rows.data(), rows.size() * sizeof(LedgerRow), false};
    transfer(transport_.to_next(), {&tail, 1});
  }
  report_.sent_bytes += rows.size() * sizeof(LedgerRow);
  ++report_.sent;
}

void Ring::send_fields(FieldMask fields, SliceHeader& header, const Slot& slot) {
  const bool staged = output_staging_.copies() && !transport_.takes_device_memory();
  const RawField* lanes[max_lanes] = {};
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    const RawField* own = slot.raw[static_cast<std::size_t>(lane)].data();
    if (topology_.slab(static_cast<int>(header.slice), lane) < 0) continue;
    lanes[lane] = staged ? output_staging_.fetch(lane, own, fields) : own;
  }
  SendPort& port = transport_.to_next();
  const Segment head{&header, sizeof header, false};
  transfer(port, {&head, 1});
  const std::vector<Segment> body = body_segments(fields, header, lanes);
  if (!body.empty()) transfer(port, body);  // everything may have gone ahead
  report_.sent_bytes += sizeof header;
  for (const Segment& s : body) report_.sent_bytes += s.bytes;
}

template <class Port>
bool Ring::wait_for(Port& port) {
  try {
    return port.wait(std::chrono::milliseconds(50));
  } catch (const RunError& e) {
    stop_if_peer_failed(e);
    throw;
  }
}

void Ring::stop_if_peer_failed(const RunError& error) const {
  // A connection breaks when the process at its other end has died: the cause is known in a moment, if it is that.
  for (int looks = 0; looks < 20 && !transport_.peer_failed(); ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!transport_.peer_failed()) return;
  log_.info(error.what());
  throw Stopped{};
}

void Ring::transfer(SendPort& port, std::span<const Segment> segments, Connection connection) {
  port.start(segments);
  while (!wait_for(port)) {
    check_stop();
    if (connection == load_connection)
      transport_.check_load_to_next();
    else
      transport_.check_to_next();
  }
}

void Ring::transfer(ReceivePort& port, std::span<const Segment> segments) {
  port.start(segments);
  while (!wait_for(port)) check_stop();
}

}  // namespace dsea
