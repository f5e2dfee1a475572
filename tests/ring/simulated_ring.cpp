#include "ring/simulated_ring.hpp"

#include <algorithm>

#include "dsea/base/text.hpp"
#include "ring/synthetic_worker.hpp"

namespace dsea::sim {

SimulatedRing::SimulatedRing(const SimProgram& program, const SimRing& ring, std::uint64_t seed)
    : program_(program),
      ring_(ring),
      topology_(program.slabs, program.periodic),
      schedule_(program.schedule(ring.processes * ring.workers)),
      slices_(topology_.slices()),
      random_(seed) {
  const auto workers = static_cast<std::size_t>(ring.workers);
  for (int p = 0; p < ring.processes; ++p) {
    StageMachine::Setup setup;
    setup.slices = slices_;
    setup.workers = ring.workers;
    setup.first_position = p * ring.workers;
    setup.one_process = ring.processes == 1;
    setup.slots = ring.slots[static_cast<std::size_t>(p)];
    setup.depth = ring.depth;
    Process process{StageMachine(setup, schedule_), {}, {}, {}, {}, {}, {}, {}};
    for (int n : setup.slots) process.rings.emplace_back(static_cast<std::size_t>(n));
    process.freed.assign(setup.slots.size(), 0);
    process.started.resize(workers);
    process.launched.resize(workers);
    process.inputs.resize(workers);
    processes_.push_back(std::move(process));
    for (int w = 0; w < ring.workers; ++w) {
      for (Act act : {Act::start, Act::launch, Act::finish}) actors_.push_back({p, act, w});
    }
    actors_.push_back({p, Act::receive, 0});
    actors_.push_back({p, Act::send, 0});
  }
  // Some actors are seldom looked at, so that their neighbours run as far ahead as they can.
  for (std::size_t a = 0; a < actors_.size(); ++a) {
    laziness_.push_back(random_() % 3 != 0 ? 0.0 : static_cast<double>(random_() % 100) / 100);
  }
  is_awake_.assign(actors_.size(), 0);
  result_.slabs.resize(static_cast<std::size_t>(program.slabs));
  exited_.assign(static_cast<std::size_t>(slices_), 0);
}

SimulatedRing::SimSlot& SimulatedRing::slot(int p, int r, std::int64_t item) {
  auto& slots = processes_[static_cast<std::size_t>(p)].rings[static_cast<std::size_t>(r)];
  return slots[static_cast<std::size_t>(item) % slots.size()];
}

void SimulatedRing::violation(int p, const std::string& what) const {
  throw Violation(cat("process ", p, ": ", what, "\n", describe()));
}

const SimulatedRing::SimSlot& SimulatedRing::filled(int p, int r, std::int64_t item) {
  const SimSlot& s = slot(p, r, item);
  if (s.state != State::ready || s.item != item) violation(p, cat("item ", item, " of ring ", r, " read, not ready"));
  return s;
}

int SimulatedRing::readers(int p, int r, std::int64_t item) const {
  const StageMachine& m = processes_[static_cast<std::size_t>(p)].machine;
  const std::int64_t cycle = item / slices_;
  if (r == ring_.workers || cycle == schedule_.supercycles()) return 1;  // the network, the exit
  const int slice = static_cast<int>(item % slices_);
  const int in = schedule_.order(cycle * schedule_.positions() + m.setup().first_position + r).in;
  return std::min(slices_ - 1, slice + in) - std::max(0, slice - in) + 1;
}

void SimulatedRing::take(int p, int r, std::int64_t item, int contributors) {
  SimSlot& s = slot(p, r, item);
  if (s.state != State::free) violation(p, cat("slot of item ", item, " of ring ", r, " taken, but in use"));
  s.state = State::filling;
  s.item = item;
  s.contributors = contributors;
  s.readers = readers(p, r, item);
  s.finished = false;
  s.values.assign(static_cast<std::size_t>(topology_.lanes()), Slab(static_cast<std::size_t>(program_.fields)));
  s.regions.clear();
}

void SimulatedRing::read_done(int p, int r, std::int64_t item) {
  SimSlot& s = slot(p, r, item);
  if (s.item != item || s.state != State::ready) violation(p, cat("item ", item, " of ring ", r, " gone while read"));
  if (--s.readers > 0) return;
  s.state = State::free;
  ++processes_[static_cast<std::size_t>(p)].freed[static_cast<std::size_t>(r)];
}

bool SimulatedRing::sums_known(int p, const StageJob& job) {
  if (job.kind == Schedule::hand_on || !program_.kind(job.kind).feeds_back) return true;
  const std::int64_t from = schedule_.step(job.substep) - program_.feedback_delay;
  if (from < 0 || processes_[static_cast<std::size_t>(p)].sums.count(from) > 0) return true;
  ++waits_for_sums_;
  return false;
}

bool SimulatedRing::start(int p, int w) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  const auto job = process.machine.possible(w);
  if (!job || !sums_known(p, *job)) return false;
  const auto under_way =
      process.started[static_cast<std::size_t>(w)].size() + process.launched[static_cast<std::size_t>(w)].size();
  if (under_way >= static_cast<std::size_t>(ring_.depth)) violation(p, cat("worker ", w, " has too much under way"));
  const int out_ring = process.machine.out_ring(w);
  for (int s = std::max(0, job->slice - job->order.in); s <= std::min(slices_ - 1, job->slice + job->order.in); ++s) {
    filled(p, w, job->item - job->slice + s);
  }
  const int out = job->order.out;
  for (int s = std::max(0, job->slice - out); s <= std::min(slices_ - 1, job->slice + out); ++s) {
    const std::int64_t item = job->out_item - job->slice + s;
    const SimSlot& o = slot(p, out_ring, item);
    if (o.item == item && o.state == State::filling) continue;
    take(p, out_ring, item, std::min(slices_ - 1, s + out) - std::max(0, s - out) + 1);
  }
  process.machine.start(*job);
  hand_on(p, *job);
  process.started[static_cast<std::size_t>(w)].push_back(*job);
  if (ring_.obedient) launch(p, w), finish(p, w);
  return true;
}

std::uint64_t SimulatedRing::input_digest(int p, const StageJob& job, int lane) {
  const int slab = topology_.slab(job.slice, lane);
  const SimKind& kind = program_.kind(job.kind);
  const std::int64_t step = schedule_.step(job.substep);
  const bool fed = kind.feeds_back && step >= program_.feedback_delay;
  const auto& sums = processes_[static_cast<std::size_t>(p)].sums;
  Hash hash = job_hash(job.substep, step, job.kind, slab, fed ? sums.at(step - program_.feedback_delay) : 0);
  for (int d = -kind.order.in; d <= kind.order.in; ++d) {
    const auto n = topology_.neighbour(slab, d);
    const auto place = n ? topology_.place(n.slab) : Topology::Place{};
    add_input(
        hash, kind,
        n ? &filled(p, job.worker, job.item - job.slice + place.slice).values[static_cast<std::size_t>(place.lane)]
          : nullptr,
        n.shift);
  }
  return hash.value();
}

void SimulatedRing::compute(int p, const StageJob& job) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  const int out_ring = process.machine.out_ring(job.worker);
  Lanes& own = slot(p, out_ring, job.out_item).values;
  own = filled(p, job.worker, job.item).values;  // handed on unless written below
  std::uint64_t digest = 0;
  for (int lane = 0; lane < topology_.lanes() && job.kind != Schedule::hand_on; ++lane) {
    const int slab = topology_.slab(job.slice, lane);
    if (slab < 0) continue;
    const SimKind& kind = program_.kind(job.kind);
    const std::uint64_t input = input_digest(p, job, lane);
    digest = Hash(digest).add(input).value();
    for (int f = 0; f < program_.fields; ++f) {
      const Use use = kind.uses[static_cast<std::size_t>(f)];
      if (use == Use::write) own[static_cast<std::size_t>(lane)][static_cast<std::size_t>(f)] = written(input, f);
      if (use != Use::contribute) continue;
      for (int d = -kind.order.out; d <= kind.order.out; ++d) {
        const auto n = topology_.neighbour(slab, d);
        if (!n) continue;
        const auto place = topology_.place(n.slab);
        SimSlot& to = slot(p, out_ring, job.out_item - job.slice + place.slice);
        auto& region = to.regions[{place.lane, -d}];
        region.resize(static_cast<std::size_t>(program_.fields));
        region[static_cast<std::size_t>(f)] = contributed(input, f, d);
      }
    }
    if (kind.observes) {
      auto& seen = process.observed[schedule_.step(job.substep)];
      seen.resize(static_cast<std::size_t>(program_.slabs));
      seen[static_cast<std::size_t>(slab)] = observed(input);
    }
  }
  process.inputs[static_cast<std::size_t>(job.worker)].push_back(digest);
}

void SimulatedRing::merge(int p, const StageJob& job, std::int64_t item) {
  SimSlot& s = slot(p, processes_[static_cast<std::size_t>(p)].machine.out_ring(job.worker), item);
  for (int lane = 0; lane < topology_.lanes() && job.kind != Schedule::hand_on; ++lane) {
    const int slab = topology_.slab(static_cast<int>(item % slices_), lane);
    if (slab < 0) continue;
    const SimKind& kind = program_.kind(job.kind);
    for (int f = 0; f < program_.fields; ++f) {
      if (kind.uses[static_cast<std::size_t>(f)] != Use::contribute) continue;
      s.values[static_cast<std::size_t>(lane)][static_cast<std::size_t>(f)] =
          merged(job.substep, slab, f, kind.order.out, [&](int d) -> std::optional<std::uint64_t> {
            const auto region = s.regions.find({lane, d});
            if (region == s.regions.end()) return std::nullopt;
            return region->second[static_cast<std::size_t>(f)];
          });
    }
  }
}

bool SimulatedRing::launch(int p, int w) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  auto& started = process.started[static_cast<std::size_t>(w)];
  if (started.empty()) return false;
  const StageJob job = started.front();
  started.pop_front();
  const int out_ring = process.machine.out_ring(w);
  if (ring_.values) compute(p, job);
  int completed = 0;
  for (int s = std::max(0, job.slice - job.order.out); s <= std::min(slices_ - 1, job.slice + job.order.out); ++s) {
    const std::int64_t item = job.out_item - job.slice + s;
    SimSlot& o = slot(p, out_ring, item);
    if (o.item != item || o.state != State::filling) violation(p, cat("item ", item, " of ring ", out_ring, " lost"));
    if (--o.contributors > 0) continue;
    if (s != job.completes_begin + completed) violation(p, cat("slice ", s, " is complete, the machine differs"));
    ++completed;
    if (ring_.values) merge(p, job, item);
    o.state = State::ready;
  }
  if (job.completes_begin + completed != job.completes_end) violation(p, "the machine completes more than is complete");
  process.machine.launched(job);
  process.launched[static_cast<std::size_t>(w)].push_back(job);
  return true;
}

bool SimulatedRing::finish(int p, int w) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  auto& launched = process.launched[static_cast<std::size_t>(w)];
  if (launched.empty() || !process.machine.may_finish(w)) return false;
  const StageJob job = launched.front();
  launched.pop_front();
  if (ring_.values) {  // what it read is still there
    std::uint64_t digest = 0;
    for (int lane = 0; lane < topology_.lanes() && job.kind != Schedule::hand_on; ++lane) {
      if (topology_.slab(job.slice, lane) < 0) continue;
      digest = Hash(digest).add(input_digest(p, job, lane)).value();
    }
    if (digest != process.inputs[static_cast<std::size_t>(w)].front()) violation(p, "input changed while being read");
    process.inputs[static_cast<std::size_t>(w)].pop_front();
  }
  for (int s = job.completes_begin; s < job.completes_end; ++s) {
    slot(p, process.machine.out_ring(w), job.out_item - job.slice + s).finished = true;
  }
  for (int s = std::max(0, job.slice - job.order.in); s <= std::min(slices_ - 1, job.slice + job.order.in); ++s) {
    const std::int64_t item = job.item - job.slice + s;
    if (!slot(p, w, item).finished)
      violation(p, cat("item ", item, " of ring ", w, " is let go before it is complete"));
    read_done(p, w, item);
  }
  if (job.slice == slices_ - 1 && job.kind != Schedule::hand_on && program_.kind(job.kind).observes) {
    const std::int64_t step = schedule_.step(job.substep);
    process.sums[step] = ring_.values ? reduced(process.observed[step]) : 0;
    process.observed.erase(step);
  }
  process.machine.finished(w);
  check_counters(p);
  return true;
}

void SimulatedRing::check_counters(int p) {
  Process& process = processes_[static_cast<std::size_t>(p)];
  for (int r = 0; r < ring_.rings(); ++r) {
    // In a ring of one process slices leave ring 0 before worker 0 is through; the machine frees those later.
    const bool exact = ring_.processes > 1 || r > 0 || exited_[0] == 0;
    const std::int64_t mine = process.freed[static_cast<std::size_t>(r)], its = process.machine.freed(r);
    if (exact ? mine != its : its > mine) violation(p, cat("ring ", r, ": ", mine, " slots are free again, not ", its));
  }
}

void SimulatedRing::wake(int p) {
  const int each = 3 * ring_.workers + 2;
  for (int a = p * each; a < (p + 1) * each; ++a) {
    if (is_awake_[static_cast<std::size_t>(a)]) continue;
    is_awake_[static_cast<std::size_t>(a)] = 1;
    awake_.push_back(a);
  }
}

void SimulatedRing::wake_all() {
  for (int p = 0; p < ring_.processes; ++p) wake(p);
}

bool SimulatedRing::act(const Actor& actor) {
  switch (actor.act) {
    case Act::start:
      return start(actor.process, actor.worker);
    case Act::launch:
      return launch(actor.process, actor.worker);
    case Act::finish:
      return finish(actor.process, actor.worker);
    case Act::receive:
      return receive(actor.process);
    case Act::send:
      return send(actor.process);
  }
  return false;
}

bool SimulatedRing::run() {
  std::uniform_real_distribution<double> chance(0, 1);
  wake_all();
  bool last_look = false;
  while (true) {
    if (awake_.empty()) {
      if (last_look) break;  // nobody could do anything
      last_look = true;
      wake_all();
    }
    const std::size_t place = random_() % awake_.size();
    const int a = awake_[place];
    if (laziness_[static_cast<std::size_t>(a)] > 0 && chance(random_) < laziness_[static_cast<std::size_t>(a)])
      continue;
    if (act(actors_[static_cast<std::size_t>(a)])) {
      ++actions_;
      last_look = false;
      wake(actors_[static_cast<std::size_t>(a)].process);
    } else {
      awake_[place] = awake_.back();
      awake_.pop_back();
      is_awake_[static_cast<std::size_t>(a)] = 0;
    }
  }
  for (const Process& p : processes_) {
    if (!p.machine.done()) return false;
    result_.sums.insert(p.sums.begin(), p.sums.end());
  }
  return true;
}

std::string SimulatedRing::describe() const {
  std::string text = cat(program_.text(), "; ", ring_.processes, " processes x ", ring_.workers, " workers, depth ",
                         ring_.depth, "\n");
  for (int p = 0; p < ring_.processes; ++p) {
    text += cat("process ", p, ":\n", processes_[static_cast<std::size_t>(p)].machine.describe());
  }
  return text;
}

}  // namespace dsea::sim
