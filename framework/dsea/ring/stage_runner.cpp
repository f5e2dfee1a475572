#include "dsea/ring/stage_runner.hpp"

#include <algorithm>
#include <bit>

#include "dsea/base/check.hpp"
#include "dsea/ring/final_fields.hpp"

namespace dsea {
namespace {

constexpr std::uint64_t no_fault = ~0ULL;

/// Kinds with contributions that come to a position.
std::vector<const Kind*> contributing_kinds(const Problem& problem, const Schedule& schedule, int position) {
  std::vector<bool> seen(problem.kinds.size(), false);
  const std::int64_t cycles = std::min<std::int64_t>(schedule.supercycles(), schedule.kinds());
  std::vector<const Kind*> kinds;
  for (std::int64_t c = 0; c < cycles; ++c) {
    const int k = schedule.kind(schedule.substep(position, c));
    if (k < 0 || k >= schedule.kinds() || seen[static_cast<std::size_t>(k)]) continue;
    seen[static_cast<std::size_t>(k)] = true;
    const Kind& kind = problem.kinds[static_cast<std::size_t>(k)];
    if (kind.out > 0) kinds.push_back(&kind);
  }
  return kinds;
}

std::size_t largest_reduction(const Problem& problem) {
  std::int64_t capacity = 1;
  for (const auto& e : problem.layout.entries()) capacity = std::max(capacity, e.capacity);
  return problem.observables.empty() ? 0 : reduce_scratch_bytes(capacity);
}

}  // namespace

StageRunner::StageRunner(RunnerEnvironment& environment, int worker, int depth, int bundles)
    : environment_(environment),
      worker_(worker),
      depth_(depth),
      stream_(environment.device, cat("worker ", worker)),
      contributions_(environment.device, environment.problem.layout,
                     contributing_kinds(environment.problem, environment.machine.schedule(),
                                        environment.machine.setup().first_position + worker),
                     environment.slots.lanes(), std::max(1, bundles)),
      sums_(environment.problem.observables, environment.topology.slabs()) {
  const Problem& problem = environment.problem;
  const Device& device = environment.device;
  for (const Kind& k : problem.kinds) feeds_back_ = feeds_back_ || !k.feedback.empty();
  reduce_bytes_ = (largest_reduction(problem) + 63) / 64 * 64;
  const std::size_t scratch = (problem.scratch_bytes + 63) / 64 * 64;
  scratch_ = environment.common_scratch;
  if (!scratch_) scratch_ = std::make_shared<Buffer>(device, scratch + reduce_bytes_, Memory::device);
  if (!device.async()) environment.common_scratch = scratch_;

  int out = 0;
  for (const Kind& k : problem.kinds) out = std::max(out, k.out);
  const auto entries = static_cast<std::size_t>(environment.slots.lanes()) * static_cast<std::size_t>(out + 2);
  // A record's words: a fault and the observables, an entry (a call); then counts of regions (host only).
  entry_words_ = 1 + problem.observables.size();
  const std::size_t entry_block = entry_words_ * entries;
  block_words_ = entry_block + contributions_.counts() * static_cast<std::size_t>(out + 1);
  const std::size_t bytes = block_words_ * sizeof(std::uint64_t);
  device_block_ = Buffer(device, bytes * static_cast<std::size_t>(depth + 1), Memory::device);
  host_block_ = Buffer(device, bytes * static_cast<std::size_t>(depth + 1), Memory::pinned);

  auto* start = host_block_.as<std::uint64_t>();
  for (std::size_t e = 0; e < entries; ++e) {
    std::uint64_t* words = start + e * entry_words_;
    *words++ = no_fault;
    for (const ObservableSpec& o : problem.observables) *words++ = std::bit_cast<std::uint64_t>(identity(o.op));
  }
  copy(stream_, device_block_.data(), start, bytes);
  stream_.synchronize();

  records_.resize(static_cast<std::size_t>(depth));
  for (std::size_t r = 0; r < records_.size(); ++r) {
    Record& record = records_[r];
    record.begin = Event(device, true);
    record.end = Event(device, true);
    record.end.on_done(&environment.wake_main);
    record.entry_slab.resize(entries);
    const std::size_t marks = problem.phases.empty() ? 0 : static_cast<std::size_t>(max_phases) * entries;
    for (std::size_t m = 0; m < marks; ++m) record.marks.events.emplace_back(device, true);
    record.marks.phases.resize(marks);
    record.device_words = device_block_.as<std::uint64_t>() + block_words_ * (r + 1);
    record.host_words = host_block_.as<std::uint64_t>() + block_words_ * (r + 1);
    record.region_counts = reinterpret_cast<std::int64_t*>(record.host_words + entry_block);
  }
}

const Kind* StageRunner::kind_of(const StageJob& job) const {
  if (job.kind == Schedule::hand_on) return nullptr;
  const Problem& problem = environment_.problem;
  return closing(job) ? &*problem.finish : &problem.kinds[static_cast<std::size_t>(job.kind)];
}

bool StageRunner::wants_snapshot(const StageJob& job) const {
  return starts_step(job) && environment_.snapshot_steps.wanted(step_of(job), environment_.machine.schedule().steps());
}

bool StageRunner::prepared(const StageJob& job) const {
  const Kind* kind = kind_of(job);
  if (kind == nullptr) return true;
  if (job.slice == 0 && !kind->feedback.empty()) {
    const std::int64_t step = step_of(job) - environment_.feedback_delay;
    if (step >= 0) {
      const auto row = environment_.ledger.find(step);
      for (int o : kind->feedback) {
        if (!row || ((row->known >> o) & 1U) == 0) return false;
      }
    }
  }
  return !wants_snapshot(job) || environment_.snapshots.has_free();
}

void StageRunner::take_buffers(const StageJob& job, const Kind* kind, bool makes_side) {
  const std::scoped_lock lock(environment_.mutex);
  Slots& slots = environment_.slots;
  const SliceLayout& layout = environment_.problem.layout;
  const int out_ring = environment_.machine.out_ring(worker_);
  const Slot& in = slots.at(worker_, job.item);
  Slot& out = slots.at(out_ring, job.out_item);
  for (int f = 0; f < layout.size(); ++f) {
    if (!layout[f].travels) {
      // The last worker's output leaves the process: side fields go no further.
      if (makes_side)
        slots.take(out, f);
      else if (in.has(f) && worker_ + 1 < environment_.machine.setup().workers)
        slots.carry(out, in, f);
      continue;
    }
    const Use use = kind == nullptr ? Use::carry : kind->use(f);
    if (use == Use::write) slots.take(out, f);
    if (use == Use::read || use == Use::carry) slots.carry(out, in, f);
  }
  // Before the work begins: on the host it is done before launch() returns.
  const bool ahead = final_fields(environment_.problem, environment_.machine.schedule(), job.substep) != 0;
  if (ahead && environment_.machine.announce(job)) environment_.wake_output.notify();
  if (kind == nullptr || kind->out == 0) return;
  for (int j = job.completes_begin; j < job.completes_end; ++j) {
    Slot& completed = slots.at(out_ring, job.out_item - job.slice + j);
    for (int f = 0; f < layout.size(); ++f) {
      if (layout[f].travels && kind->use(f) == Use::contribute) slots.take(completed, f);
    }
  }
}

void StageRunner::wait_for_input(const StageJob& job) {
  // Slices come out of one stream in order: waiting for the last one read is waiting for all.
  const int last = std::min(job.slice + job.order.in, environment_.topology.slices() - 1);
  stream_.wait(environment_.slots.at(worker_, job.item - job.slice + last).ready);
}

void StageRunner::clear_regions(const StageJob& job) {
  const int last = std::min(job.slice + job.order.out, environment_.topology.slices() - 1);
  const int first = job.slice == 0 ? 0 : job.slice + job.order.out;
  for (int j = first; j <= last; ++j) contributions_.clear(stream_, job.item - job.slice + j);
}

void StageRunner::call(StageContext& context, Record& record, int slice, int lane, bool merging) {
  const int slab = environment_.topology.slab(slice, lane);
  if (slab < 0) return;
  context.merging = merging;
  context.slab = slab;
  context.place = {slice, lane};
  context.fault_word = record.device_words + static_cast<std::size_t>(record.entries) * entry_words_;
  context.observables = reinterpret_cast<double*>(context.fault_word + 1);
  context.snapshot = record.snapshot >= 0 && !merging ? environment_.snapshots.fields(record.snapshot, lane) : nullptr;
  context.scratch_used = 0;
  record.entry_slab[static_cast<std::size_t>(record.entries++)] = slab;
  Stage stage(context);
  if (merging)
    environment_.program.merge(stage);
  else if (closing(context.job))
    environment_.program.finish(stage);
  else
    environment_.program.run(stage);
}

void StageRunner::launch(const StageJob& job) {
  const Kind* kind = kind_of(job);
  const SliceLayout& layout = environment_.problem.layout;
  Record& record = records_[static_cast<std::size_t>(launched_ % depth_)];
  record.job = job;
  record.entries = 0;
  record.marks.used = 0;
  record.snapshot = kind != nullptr && wants_snapshot(job) ? environment_.snapshots.take() : -1;

  StageContext context;
  context.problem = &environment_.problem;
  context.topology = &environment_.topology;
  context.slots = &environment_.slots;
  context.ledger = &environment_.ledger;
  context.feedback_delay = environment_.feedback_delay;
  context.job = job;
  context.kind = kind;
  context.in_ring = worker_;
  context.out_ring = environment_.machine.out_ring(worker_);
  context.step = step_of(job);
  const int side_every = environment_.problem.side_every;
  context.makes_side =
      kind != nullptr && (worker_ == 0 || (side_every > 0 && starts_step(job) && context.step % side_every == 0));
  const std::int64_t every = environment_.table_every;
  const bool shown =
      every > 0 && (context.step % every == 0 || context.step == environment_.machine.schedule().steps());
  record.makes_side = context.makes_side;
  context.observing = kind != nullptr && !kind->observed.empty() && (shown || feeds_back_);
  for (int f = 0; f < layout.size(); ++f) {
    const std::uint32_t bit = 1U << f;
    if (!layout[f].travels) {
      (context.makes_side ? context.write_mask : context.read_mask) |= bit;
      continue;
    }
    const Use use = kind == nullptr ? Use::carry : kind->use(f);
    if (use != Use::carry) context.read_mask |= bit;
    if (use == Use::write) context.write_mask |= bit;
    if (use == Use::contribute) context.contribute_mask |= bit;
  }
  context.stream = &stream_;
  context.scratch = scratch_->as<std::byte>();
  context.scratch_size = scratch_->size() - reduce_bytes_;
  context.reduce_scratch = scratch_->as<std::byte>() + context.scratch_size;
  context.reduce_scratch_size = reduce_bytes_;
  context.contributions = &contributions_;
  context.marks = &record.marks;

  Slot& out = environment_.slots.at(context.out_ring, job.out_item);
  take_buffers(job, kind, context.makes_side);
  out.header.flags = environment_.slots.at(worker_, job.item).header.flags;
  wait_for_input(job);
  record.begin.record(stream_);
  if (kind != nullptr) {
    const std::size_t words = record.entry_slab.size() * entry_words_;
    copy(stream_, record.device_words, device_block_.data(), words * sizeof(std::uint64_t));
    if (kind->out > 0) clear_regions(job);
    for (int lane = 0; lane < environment_.slots.lanes(); ++lane) call(context, record, job.slice, lane, false);
    if (kind->out > 0) {
      for (int j = job.completes_begin; j < job.completes_end; ++j) {
        for (int lane = 0; lane < environment_.slots.lanes(); ++lane) call(context, record, j, lane, true);
      }
    }
    copy_back(job, kind, record);
  }
  for (int j = job.completes_begin; j < job.completes_end; ++j) {
    environment_.slots.at(context.out_ring, context.out_item(j)).ready.record(stream_);
  }
  record.end.record(stream_);
  ++launched_;
}

void StageRunner::copy_back(const StageJob& job, const Kind* kind, Record& record) {
  const std::size_t words = static_cast<std::size_t>(record.entries) * entry_words_;
  copy(stream_, record.host_words, record.device_words, words * sizeof(std::uint64_t));
  Slots& slots = environment_.slots;
  const SliceLayout& layout = environment_.problem.layout;
  const int out_ring = environment_.machine.out_ring(worker_);
  const std::size_t bytes = sizeof(std::int64_t) * static_cast<std::size_t>(slots.lanes());
  const auto counts_home = [&](std::int64_t item, int field) {
    const int buffer = slots.at(out_ring, item).buffer[static_cast<std::size_t>(field)];
    if (buffer < 0) return;
    copy(stream_, slots.pools().host_counts(field, buffer), slots.pools().device_counts(field, buffer), bytes);
  };
  for (int f = 0; f < layout.size(); ++f) {
    if (layout[f].fixed) continue;
    const Use use = kind->use(f);
    const bool fresh = layout[f].travels ? use == Use::write : record.makes_side;
    if (fresh) counts_home(job.out_item, f);
    if (!layout[f].travels || use != Use::contribute) continue;
    for (int j = job.completes_begin; j < job.completes_end; ++j) counts_home(job.out_item - job.slice + j, f);
  }
  if (kind->out == 0) return;
  std::int64_t* counts = record.region_counts;
  for (int j = job.completes_begin; j < job.completes_end; ++j, counts += contributions_.counts()) {
    contributions_.copy_counts(stream_, job.item - job.slice + j, counts);
  }
}

std::optional<FinishedStage> StageRunner::retire() {
  if (retired_ == launched_) return std::nullopt;
  Record& record = records_[static_cast<std::size_t>(retired_ % depth_)];
  if (!record.end.done()) return std::nullopt;
  {
    // A stage upstream may have ended just now, and must be taken in first.
    const std::scoped_lock lock(environment_.mutex);
    if (!environment_.machine.may_finish(worker_)) return std::nullopt;
  }
  if (const std::exception_ptr error = stream_.error()) std::rethrow_exception(error);

  const StageJob& job = record.job;
  const Kind* kind = kind_of(job);
  FinishedStage finished;
  finished.job = job;
  finished.kernel_seconds = Event::seconds_between(record.begin, record.end);
  const PhaseMarks& marks = record.marks;
  for (std::size_t m = 0; m < marks.used; ++m) {
    const Event& end = m + 1 < marks.used ? marks.events[m + 1] : record.end;
    finished.phase_seconds[static_cast<std::size_t>(marks.phases[m])] += Event::seconds_between(marks.events[m], end);
  }
  if (kind != nullptr) {
    check_fault(record);
    if (kind->out > 0) {
      const std::int64_t* counts = record.region_counts;
      for (int j = job.completes_begin; j < job.completes_end; ++j, counts += contributions_.counts()) {
        contributions_.check_counts(counts, j, step_of(job));
      }
    }
    finished.ledger_row = take_observables(record, kind);
  }
  fill_headers(record, kind);
  if (record.snapshot >= 0) {
    environment_.snapshots.submit({record.snapshot, job.slice, step_of(job)});
    finished.snapshot = true;
  }
  ++retired_;
  const std::scoped_lock lock(environment_.mutex);
  if (worker_ + 1 == environment_.machine.setup().workers) {
    environment_.slots.release_side(environment_.slots.at(environment_.machine.out_ring(worker_), job.out_item));
  }
  const std::int64_t first = environment_.machine.freed(worker_);
  environment_.machine.finished(worker_);
  for (std::int64_t item = first; item < environment_.machine.freed(worker_); ++item) {
    environment_.slots.release(environment_.slots.at(worker_, item));
  }
  return finished;
}

void StageRunner::settle() noexcept {
  try {
    stream_.synchronize();
  } catch (const std::exception&) {
    // The error has been taken by retire(), or another one came first.
  }
}

void StageRunner::check_fault(const Record& record) const {
  for (int e = 0; e < record.entries; ++e) {
    const std::uint64_t word = record.host_words[static_cast<std::size_t>(e) * entry_words_];
    if (word == no_fault) continue;
    const Fault fault{static_cast<int>(word >> 56), static_cast<std::int64_t>(word & 0x00ffffffffffffffULL),
                      record.entry_slab[static_cast<std::size_t>(e)], step_of(record.job)};
    throw RunError(cat("step ", fault.step, ", slab ", fault.slab, ": ", environment_.program.explain(fault)));
  }
}

void StageRunner::fill_headers(const Record& record, const Kind* kind) {
  const StageJob& job = record.job;
  Slots& slots = environment_.slots;
  const SliceLayout& layout = environment_.problem.layout;
  const Schedule& schedule = environment_.machine.schedule();
  const int out_ring = environment_.machine.out_ring(worker_);
  for (int j = job.completes_begin; j < job.completes_end; ++j) {
    Slot& slot = slots.at(out_ring, job.out_item - job.slice + j);
    SliceHeader& header = slot.header;
    header.slice = j;
    header.substep = job.substep + 1;
    header.step = schedule.step(header.substep);
    header.dt = environment_.problem.dt;
    header.time = static_cast<double>(header.step) * header.dt;
    for (int f = 0; f < layout.size(); ++f) {
      const int buffer = slot.buffer[static_cast<std::size_t>(f)];
      if (buffer < 0) continue;
      const std::int64_t* counts = slots.pools().host_counts(f, buffer);
      for (int lane = 0; lane < slots.lanes(); ++lane) {
        if (environment_.topology.slab(j, lane) < 0) continue;
        header.counts[f][lane] = counts[lane];
        if (kind == nullptr || (counts[lane] >= 0 && counts[lane] <= layout[f].capacity)) continue;
        throw RunError(cat("step ", step_of(job), ", slice ", j, ": field '", layout[f].name, "' of slab ",
                           environment_.topology.slab(j, lane), " needs room for ", counts[lane],
                           " elements, but its capacity is ", layout[f].capacity, ": ", layout.overflow_advice()));
      }
    }
  }
}

bool StageRunner::take_observables(const Record& record, const Kind* kind) {
  if (kind->observed.empty()) return false;
  const StageJob& job = record.job;
  if (job.slice == 0) sums_.reset();
  for (int e = 0; e < record.entries; ++e) {
    const std::uint64_t* values = record.host_words + static_cast<std::size_t>(e) * entry_words_ + 1;
    for (int o : kind->observed) {
      sums_.combine(o, record.entry_slab[static_cast<std::size_t>(e)], std::bit_cast<double>(values[o]));
    }
  }
  if (job.slice != environment_.topology.slices() - 1) return false;
  LedgerRow row;
  row.step = step_of(job);
  for (int o : kind->observed) {
    row.known |= 1ULL << o;
    row.values[static_cast<std::size_t>(o)] = sums_.reduced(o);
  }
  environment_.ledger.add(row);
  return true;
}

}  // namespace dsea
