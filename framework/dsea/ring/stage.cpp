#include "dsea/ring/stage.hpp"

#include "dsea/base/error.hpp"
#include "dsea/ring/contributions.hpp"
#include "dsea/ring/scratch_size.hpp"
#include "dsea/ring/stage_context.hpp"

namespace dsea {
namespace {

[[noreturn]] void misuse(const StageContext& c, const std::string& what) {
  throw RunError(cat("worker of kind '", c.kind->name, "', slab ", c.slab, ": ", what));
}

void check_offset(const StageContext& c, const char* call, int d, int order) {
  if (d < -order || d > order) {
    misuse(c, cat(call, "(", d, ") is out of reach: the kind declares order ", order));
  }
}

const RawField* lane_fields(const Slot& slot, int lane) { return slot.raw[static_cast<std::size_t>(lane)].data(); }

}  // namespace

int Stage::slab() const { return context_->slab; }
int Stage::slabs() const { return context_->topology->slabs(); }
int Stage::kind() const { return context_->job.kind; }
int Stage::position() const { return context_->job.position; }
std::int64_t Stage::step() const { return context_->step; }
double Stage::time() const { return static_cast<double>(context_->step) * context_->problem->dt; }
double Stage::dt() const { return context_->problem->dt; }
bool Stage::makes_side() const { return context_->makes_side; }
bool Stage::observing() const { return context_->observing; }
Stream& Stage::stream() const { return *context_->stream; }
void Stage::phase(Phase p) const {
  const StageContext& c = *context_;
  if (p.index < 0 || p.index >= static_cast<int>(c.problem->phases.size())) {
    misuse(c, cat("phase number ", p.index, " is none of this problem's: make it by Problem::phase()"));
  }
  PhaseMarks& marks = *c.marks;
  if (marks.used == marks.events.size()) return;  // more than anybody looks at
  marks.phases[marks.used] = p.index;
  marks.events[marks.used++].record(*c.stream);
}

FaultReporter Stage::faults() const { return {context_->fault_word}; }

bool Stage::has_neighbour(int d) const { return static_cast<bool>(context_->topology->neighbour(context_->slab, d)); }

int Stage::shift(int d) const { return context_->topology->neighbour(context_->slab, d).shift; }

SlabIn Stage::in(int d) const {
  const StageContext& c = *context_;
  if (c.merging) misuse(c, "merge() has no input: read contribution(d)");
  check_offset(c, "in", d, c.job.order.in);
  const Topology::Neighbour n = c.topology->neighbour(c.slab, d);
  if (!n) return {};
  const Topology::Place place = c.topology->place(n.slab);
  const Slot& slot = c.slots->at(c.in_ring, c.in_item(place.slice));
  return {&c.slots->layout(), lane_fields(slot, place.lane), c.read_mask};
}

SlabOut Stage::out(int d) const {
  const StageContext& c = *context_;
  if (c.merging && d != 0) misuse(c, cat("out(", d, ") in merge(): only out(0), the final slab, may be written"));
  check_offset(c, "out", d, c.job.order.out);
  const Topology::Neighbour n = c.topology->neighbour(c.slab, d);
  if (!n) misuse(c, cat("out(", d, ") lies beyond the open end of the stream axis: ask has_neighbour(", d, ")"));
  if (c.merging || (d == 0 && c.contribute_mask == 0)) {
    const Slot& slot = c.slots->at(c.out_ring, c.out_item(c.place.slice));
    return {&c.slots->layout(), lane_fields(slot, c.place.lane), c.write_mask | c.contribute_mask};
  }
  const Topology::Place target = c.topology->place(n.slab);
  const RawField* regions = c.contributions->fields(c.in_item(target.slice), -d, target.lane);
  if (d != 0) return {&c.slots->layout(), regions, c.contribute_mask};
  // out(0) of a contributing kind mixes regions with fields that are written directly.
  const Slot& slot = c.slots->at(c.out_ring, c.out_item(c.place.slice));
  return {&c.slots->layout(), regions, c.contribute_mask, lane_fields(slot, c.place.lane), c.write_mask};
}

SlabIn Stage::contribution(int d) const {
  const StageContext& c = *context_;
  if (!c.merging) misuse(c, "contribution(d) is for merge(): run() writes out(d)");
  check_offset(c, "contribution", d, c.job.order.out);
  if (!c.topology->neighbour(c.slab, d)) return {};
  return {&c.slots->layout(), c.contributions->fields(c.in_item(c.place.slice), d, c.place.lane), c.contribute_mask};
}

double* Stage::observable(Observable o) const {
  const StageContext& c = *context_;
  for (int declared : c.kind->observed) {
    if (declared == o.index) return c.observables + o.index;
  }
  misuse(c, cat("it reports observable number ", o.index, " without declaring it: add .observes() to the kind"));
}

double Stage::reduced(Observable o) const {
  const StageContext& c = *context_;
  bool declared = false;
  for (int f : c.kind->feedback) declared = declared || f == o.index;
  if (!declared) {
    misuse(c, cat("it asks for reduced observable number ", o.index, ": add .feeds_back() to the kind"));
  }
  const std::int64_t step = c.step - c.feedback_delay;
  if (step < 0) return c.problem->observables[static_cast<std::size_t>(o.index)].start;
  const auto row = c.ledger->find(step);
  if (!row || ((row->known >> o.index) & 1U) == 0) {
    throw RunError(cat("the reduced observable of step ", step, " is not there at step ", c.step,
                       ": the plan should have refused this feedback delay"));
  }
  return row->values[static_cast<std::size_t>(o.index)];
}

SlabOut Stage::snapshot() const {
  if (context_->snapshot == nullptr) return {};
  return {&context_->problem->snapshot, context_->snapshot};
}

std::uint64_t Stage::flags() const {
  const StageContext& c = *context_;
  return c.slots->at(c.in_ring, c.job.item).header.flags;
}

void Stage::set_flags(std::uint64_t flags) const {
  const StageContext& c = *context_;
  c.slots->at(c.out_ring, c.job.out_item).header.flags = flags;
}

void* Stage::scratch_bytes(std::size_t bytes) const {
  StageContext& c = *context_;
  bytes = ScratchSize::padded(bytes);
  if (bytes > c.scratch_size - c.scratch_used) {
    misuse(c, cat("it needs ", c.scratch_used + bytes, " bytes of scratch memory, but Problem::scratch_bytes is ",
                  c.problem->scratch_bytes, ": add up by ScratchSize"));
  }
  void* at = c.scratch + c.scratch_used;
  c.scratch_used += bytes;
  return at;
}

void* Stage::reduce_scratch(std::size_t bytes) const {
  const StageContext& c = *context_;
  if (bytes > c.reduce_scratch_size) misuse(c, "observe() over more elements than any field has room for");
  return c.reduce_scratch;  // reductions of one stream follow each other, so they share it
}

ReduceOp Stage::op(Observable o) const { return context_->problem->observables[static_cast<std::size_t>(o.index)].op; }

RawField Stage::feed_field(int /*feed*/, int /*d*/, int /*ahead*/) const {
  misuse(*context_, "feeds are not available in this version");
}

}  // namespace dsea
