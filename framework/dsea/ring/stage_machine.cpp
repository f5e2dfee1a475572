#include "dsea/ring/stage_machine.hpp"

#include <algorithm>

#include "dsea/base/check.hpp"
#include "dsea/base/text.hpp"

namespace dsea {

StageMachine::StageMachine(Setup setup, Schedule schedule) : setup_(std::move(setup)), schedule_(std::move(schedule)) {
  const int rings = setup_.workers + (setup_.one_process ? 0 : 1);
  DSEA_CHECK_EQ(static_cast<int>(setup_.slots.size()), rings);
  for (int slots : setup_.slots) DSEA_CHECK_LE(1, slots);
  DSEA_CHECK_LE(1, setup_.depth);
  rings_.resize(static_cast<std::size_t>(rings));
  workers_.resize(static_cast<std::size_t>(setup_.workers));
  // A ring of one process hands items of the last super-cycle back to ring 0, where the exit takes them.
  send_next_ = setup_.one_process ? worker_items() : 0;
}

StageJob StageMachine::job(int worker, std::int64_t item) const {
  StageJob j;
  j.worker = worker;
  j.position = setup_.first_position + worker;
  j.item = item;
  j.supercycle = supercycle(item);
  j.slice = slice(item);
  j.substep = schedule_.substep(j.position, j.supercycle);
  j.kind = schedule_.kind(j.substep);
  j.order = schedule_.order(j.substep);
  j.out_item = out_item(worker, item);
  const int last = setup_.slices - 1;
  j.completes_begin = std::max(0, j.slice - j.order.out);
  j.completes_end = j.slice == last ? setup_.slices : std::max(0, j.slice - j.order.out + 1);
  return j;
}

std::int64_t StageMachine::last_read(const StageJob& j) const {
  return j.item - j.slice + std::min(j.slice + j.order.in, setup_.slices - 1) + 1;
}

std::int64_t StageMachine::last_written(const StageJob& j) const {
  return j.out_item - j.slice + std::min(j.slice + j.order.out, setup_.slices - 1) + 1;
}

bool StageMachine::still_loading(int ring) const {
  // Items pass a ring in order: in a ring of one process the last worker's output comes behind all loaded slices.
  return ring == 0 && ring_(0).complete < receive_items();
}

bool StageMachine::may_write(const StageJob& j) const {
  const int out = out_ring(j.worker);
  return last_written(j) - ring_(out).freed <= setup_.slots[static_cast<std::size_t>(out)] && !still_loading(out);
}

std::optional<StageJob> StageMachine::upcoming(int worker) const {
  const WorkerState& w = worker_(worker);
  if (w.next >= worker_items()) return std::nullopt;
  return job(worker, w.next);
}

std::string StageMachine::obstacle(const StageJob& j) const {
  if (worker_(j.worker).started - worker_(j.worker).finished >= setup_.depth) return "its own work under way";
  const std::int64_t read = last_read(j);
  if (ring_(j.worker).ready < read) {
    return cat("slice ", slice(ring_(j.worker).ready), " of super-cycle ", supercycle(ring_(j.worker).ready),
               " in ring ", j.worker);
  }
  if (!may_write(j)) {
    const int out = out_ring(j.worker);
    return still_loading(out) ? std::string("the end of loading") : cat("a free slot in ring ", out);
  }
  return {};
}

std::optional<StageJob> StageMachine::possible(int worker) const {
  const auto j = upcoming(worker);
  if (!j) return j;
  // The same conditions as obstacle(), without text: this is asked for every slice.
  if (worker_(worker).started - worker_(worker).finished >= setup_.depth || ring_(worker).ready < last_read(*j) ||
      !may_write(*j)) {
    return std::nullopt;
  }
  return j;
}

void StageMachine::start(const StageJob& j) {
  DSEA_CHECK_EQ(j.item, worker_(j.worker).next);
  RingState& out = ring_(out_ring(j.worker));
  out.taken = std::max(out.taken, last_written(j));
  ++worker_(j.worker).next;
  ++worker_(j.worker).started;
}

bool StageMachine::announce(const StageJob& j) {
  WorkerState& w = worker_(j.worker);
  DSEA_CHECK_EQ(j.item + 1, w.next, "a job is announced when it has been started");
  w.announced = w.next;
  return j.worker == setup_.workers - 1 && can_send_ahead();
}

void StageMachine::launched(const StageJob& j) {
  ring_(out_ring(j.worker)).ready += j.completes_end - j.completes_begin;
  ++worker_(j.worker).launched;
}

bool StageMachine::may_finish(int worker) const {
  const WorkerState& w = worker_(worker);
  return w.launched > w.finished && last_read(job(worker, w.oldest)) <= ring_(worker).complete;
}

void StageMachine::finished(int worker) {
  WorkerState& w = worker_(worker);
  DSEA_CHECK(may_finish(worker), "worker ", worker, " has nothing to finish, or its input is still being worked on");
  const StageJob j = job(worker, w.oldest);
  ++w.oldest;
  ++w.finished;
  ring_(out_ring(worker)).complete += j.completes_end - j.completes_begin;
  RingState& in = ring_(worker);
  const std::int64_t first = j.item - j.slice;
  const bool last = j.slice == setup_.slices - 1;
  in.freed = std::max(in.freed, last ? first + setup_.slices : first + std::max(0, j.slice - j.order.in + 1));
  if (worker == 0) free_exited();
}

std::optional<std::int64_t> StageMachine::next_receive() const {
  // In a ring of one process `taken` of ring 0 goes on beyond the loaded items by the last worker's output.
  if (ring_(0).taken >= receive_items()) return std::nullopt;
  return ring_(0).taken;
}

bool StageMachine::can_receive() const { return next_receive() && ring_(0).taken - ring_(0).freed < setup_.slots[0]; }

void StageMachine::begin_receive() {
  DSEA_CHECK(can_receive(), "no slot to receive into");
  ++ring_(0).taken;
}

void StageMachine::received() {
  ++ring_(0).ready;
  ++ring_(0).complete;
}

std::optional<std::int64_t> StageMachine::next_send() const {
  const std::int64_t end = worker_items() + (setup_.one_process ? setup_.slices : 0);
  if (send_next_ >= end) return std::nullopt;
  return send_next_;
}

bool StageMachine::can_send() const { return next_send() && send_next_ < ring_(send_ring()).complete; }

bool StageMachine::can_send_ahead() const {
  // In a ring of one process nothing is sent: what leaves it is looked at as a whole.
  if (setup_.one_process || !next_send() || can_send() || exits(send_next_)) return false;
  const int last = setup_.workers - 1;
  return send_next_ < worker_(last).announced && send_next_ < ring_(last).complete;
}

void StageMachine::sent() {
  DSEA_CHECK(can_send(), "nothing to send");
  ++send_next_;
  free_exited();
}

void StageMachine::free_exited() {
  // In a ring of one process slices leave ring 0 while worker 0 still reads earlier items of it: those are freed first.
  RingState& ring = ring_(send_ring());
  if (setup_.one_process && ring.freed < worker_items()) return;
  ring.freed = std::max(ring.freed, send_next_);
}

bool StageMachine::exits(std::int64_t item) const {
  if (setup_.one_process) return item >= worker_items();
  return setup_.first_position + setup_.workers == schedule_.positions() &&
         supercycle(item) == schedule_.supercycles() - 1;
}

bool StageMachine::done() const {
  if (next_receive() || next_send()) return false;
  return std::all_of(workers_.begin(), workers_.end(),
                     [&](const WorkerState& w) { return w.oldest >= worker_items(); });
}

std::string StageMachine::describe() const {
  std::string text;
  for (int r = 0; r < static_cast<int>(rings_.size()); ++r) {
    const RingState& s = ring_(r);
    text +=
        cat("  ring ", r, ": ", setup_.slots[static_cast<std::size_t>(r)], " slots, ready [", s.freed, ", ", s.ready,
            "), filling [", s.ready, ", ", s.taken, ") (item = super-cycle x ", setup_.slices, " + slice)\n");
  }
  for (int w = 0; w < setup_.workers; ++w) {
    const auto j = upcoming(w);
    text += cat("  worker ", w, " (position ", setup_.first_position + w, "): ", in_flight(w), " under way, ");
    if (!j) {
      text += "through\n";
    } else {
      const std::string why = obstacle(*j);
      text += cat("next slice ", j->slice, " of super-cycle ", j->supercycle,
                  why.empty() ? std::string(", may start") : ", waits for " + why, "\n");
    }
  }
  return text;
}

}  // namespace dsea
