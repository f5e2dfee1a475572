// The simulated ring's links: what is sent, ahead of a slice or with it, and what is received.
#include <algorithm>

#include "dsea/base/text.hpp"
#include "ring/simulated_ring.hpp"

namespace dsea::sim {

std::vector<int> SimulatedRing::final_fields(std::int64_t substep) const {
  std::vector<int> fields;
  const int kind = schedule_.kind(substep);
  for (int f = 0; f < program_.fields && kind != Schedule::hand_on; ++f) {
    const Use use = program_.kind(kind).uses[static_cast<std::size_t>(f)];
    if (use == Use::read || use == Use::carry) fields.push_back(f);
  }
  return fields;
}

void SimulatedRing::hand_on(int p, const StageJob& job) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  const std::vector<int> fields = final_fields(job.substep);
  if (fields.empty()) return;
  const Lanes& in = filled(p, job.worker, job.item).values;
  Lanes& out = slot(p, process.machine.out_ring(job.worker), job.out_item).values;
  for (std::size_t lane = 0; lane < in.size(); ++lane) {
    for (const int f : fields) {
      out[lane][static_cast<std::size_t>(f)] = in[lane][static_cast<std::size_t>(f)];
    }
  }
  process.machine.announce(job);
}

bool SimulatedRing::receive(int p) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  const auto item = process.machine.next_receive();
  if (!process.receiving) {
    if (!process.machine.can_receive()) return false;
    take(p, 0, *item, 0);
    process.machine.begin_receive();
    process.receiving = true;
    return true;
  }
  const std::int64_t arriving = process.machine.taken(0) - 1;
  SimSlot& to = slot(p, 0, arriving);
  if (p == 0 && arriving < slices_) {  // the loader
    for (int lane = 0; lane < topology_.lanes(); ++lane) {
      const int slab = topology_.slab(static_cast<int>(arriving), lane);
      if (slab >= 0) to.values[static_cast<std::size_t>(lane)] = initial(program_, slab);
    }
  } else {
    const int from = (p + ring_.processes - 1) % ring_.processes;
    Process& other = processes_[static_cast<std::size_t>(from)];
    if (other.sending == Sending::nothing) return false;
    const std::int64_t sent = *other.machine.next_send();
    if (sent + (p == 0 ? slices_ : 0) != arriving) violation(p, cat("item ", sent, " arrives as ", arriving));
    const bool ahead = other.sending == Sending::ahead;
    const SimSlot& source = ahead ? slot(from, ring_.workers, sent) : filled(from, ring_.workers, sent);
    const std::vector<int> early = final_fields(other.machine.schedule().substep(
        other.machine.setup().first_position + ring_.workers - 1, other.machine.supercycle(sent)));
    // What went ahead is not sent again.
    const auto copy = [&](int f) {
      for (std::size_t lane = 0; lane < to.values.size(); ++lane) {
        to.values[lane][static_cast<std::size_t>(f)] = source.values[lane][static_cast<std::size_t>(f)];
      }
    };
    for (int f = 0; f < program_.fields; ++f) {
      const bool is_early = std::find(early.begin(), early.end(), f) != early.end();
      if (ahead ? is_early : !(is_early && other.went_ahead)) copy(f);
    }
    other.sending = Sending::nothing;
    other.went_ahead = ahead;
    wake(from);
    if (ahead) {
      ++went_ahead_;
      return true;
    }
    if (sent % slices_ == slices_ - 1) process.sums.insert(other.sums.begin(), other.sums.end());
    other.machine.sent();
    read_done(from, ring_.workers, sent);
    check_counters(from);
  }
  to.state = State::ready;
  to.finished = true;
  process.receiving = false;
  process.machine.received();
  return true;
}

bool SimulatedRing::send(int p) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  if (process.sending != Sending::nothing) return false;
  if (!process.machine.can_send()) return send_ahead(p);
  const std::int64_t item = *process.machine.next_send();
  const SimSlot& s = filled(p, process.machine.send_ring(), item);
  if (!s.finished) violation(p, cat("item ", item, " is sent before its work is done"));
  if (!process.machine.exits(item)) {
    process.sending = Sending::slice;
    wake((p + 1) % ring_.processes);
    return true;
  }
  const int slice = static_cast<int>(item % slices_);
  if (exited_[static_cast<std::size_t>(slice)]++ != 0) violation(p, cat("slice ", slice, " leaves twice"));
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    const int slab = topology_.slab(slice, lane);
    if (slab >= 0) result_.slabs[static_cast<std::size_t>(slab)] = s.values[static_cast<std::size_t>(lane)];
  }
  process.machine.sent();
  read_done(p, process.machine.send_ring(), item);
  check_counters(p);
  return true;
}

bool SimulatedRing::send_ahead(int p) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  const StageMachine& m = process.machine;
  if (process.went_ahead || !m.can_send_ahead()) return false;
  const std::int64_t item = *m.next_send();
  if (final_fields(schedule_.substep(m.setup().first_position + ring_.workers - 1, m.supercycle(item))).empty())
    return false;
  const SimSlot& out = slot(p, ring_.workers, item);
  if (out.item != item || out.state == State::free) violation(p, cat("item ", item, " goes ahead, and is not there"));
  const SimSlot& in = slot(p, ring_.workers - 1, item);
  if (in.item == item && !in.finished) violation(p, cat("item ", item, " goes ahead before its input is complete"));
  process.sending = Sending::ahead;
  wake((p + 1) % ring_.processes);
  return true;
}

}  // namespace dsea::sim
