// The output thread: sends complete slices to the next rank, and takes in what leaves the ring.
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
    wait_for_complete(*item);
    Slot& slot = slots_.at(ring, *item);
    if (machine_.exits(*item))
      exit_slice(*item, slot);
    else
      send_slice(*item, slot);
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

void Ring::wait_for_complete(std::int64_t item) {
  for (;;) {
    const std::uint64_t seen = wake_output_.now();
    {
      const std::scoped_lock lock(mutex_);
      if (machine_.can_send()) return;
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

std::vector<Segment> Ring::body_segments(const SliceHeader& header, const RawField* const* lanes) const {
  std::vector<Segment> segments;
  segments.reserve(std::size_t{max_fields} * max_lanes);
  const bool on_device = device_.is_cuda() && transport_.takes_device_memory();
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    if (topology_.slab(static_cast<int>(header.slice), lane) < 0) continue;
    for (int f = 0; f < problem_.layout.size(); ++f) {
      const SliceLayout::Entry& entry = problem_.layout[f];
      const std::size_t bytes = entry.element_bytes * static_cast<std::size_t>(header.counts[f][lane]);
      if (entry.travels) segments.push_back({lanes[lane][f].data, bytes, on_device});
    }
  }
  return segments;
}

void Ring::send_slice(std::int64_t item, Slot& slot) {
  output_status_.set("sends", item);
  SliceHeader& header = slot.header;
  std::vector<LedgerRow> rows;
  if (machine_.slice(item) == topology_.slices() - 1) {
    rows.resize(static_cast<std::size_t>(ledger_.window()));
    rows.resize(ledger_.collect(-1, rows));
  }
  header.ledger_rows = static_cast<std::int64_t>(rows.size());

  const bool staged = output_staging_.copies() && !transport_.takes_device_memory();
  const RawField* lanes[max_lanes] = {};
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    const RawField* fields = slot.raw[static_cast<std::size_t>(lane)].data();
    if (topology_.slab(machine_.slice(item), lane) < 0) continue;
    lanes[lane] = staged ? output_staging_.fetch(lane, fields) : fields;
  }
  SendPort& port = transport_.to_next();
  const Segment head{&header, sizeof header, false};
  transfer(port, {&head, 1});
  const std::vector<Segment> body = body_segments(header, lanes);
  transfer(port, body);
  if (!rows.empty()) {
    const Segment tail{rows.data(), rows.size() * sizeof(LedgerRow), false};
    transfer(port, {&tail, 1});
  }
  report_.sent_bytes += sizeof header + rows.size() * sizeof(LedgerRow);
  for (const Segment& s : body) report_.sent_bytes += s.bytes;
  ++report_.sent;
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
