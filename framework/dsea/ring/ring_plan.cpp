#include "dsea/ring/ring_plan.hpp"

#include <algorithm>
#include <numeric>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/ring/final_fields.hpp"
#include "dsea/slice/header.hpp"

namespace dsea {

namespace {

constexpr int most_positions = 10'000'000;
constexpr std::int64_t most_steps = 1'000'000'000'000'000;

Order order_of(const Kind& kind) { return {kind.in, kind.out}; }

PlanRequest checked(const Problem& problem, const PlanRequest& r) {
  problem.check();
  const auto demand = [](bool condition, const std::string& text) {
    if (!condition) throw UsageError(text);
  };
  demand(r.processes >= 1, cat("a ring of ", r.processes, " processes: at least 1 is needed"));
  demand(r.workers >= 1, cat("[ring] workers = ", r.workers, ": every process needs at least 1"));
  demand(static_cast<std::int64_t>(r.processes) * r.workers <= most_positions,
         cat(r.processes, " processes with ", r.workers, " workers each are more than ", most_positions, " workers"));
  demand(r.steps >= 0 && r.steps <= most_steps, cat("[run] steps = ", r.steps, ": it must be 0 to ", most_steps));
  demand(r.depth >= 1, cat("a worker may have ", r.depth, " stages under way: at least 1 is needed"));
  demand(r.feedback_delay >= 1, cat("[run] feedback_delay = ", r.feedback_delay, ": at least 1 step is needed"));
  demand(r.slots != SlotChoice::given || r.slots_per_ring >= 1,
         cat("[ring] slots = ", r.slots_per_ring, ": every slot ring needs at least 1"));
  return r;
}

}  // namespace

Schedule make_schedule(const Problem& problem, std::int64_t steps, int positions) {
  std::vector<Order> orders;
  for (const Kind& kind : problem.kinds) orders.push_back(order_of(kind));
  return {orders, problem.finish ? std::optional(order_of(*problem.finish)) : std::nullopt, steps, positions,
          problem.program_steps};
}

ScalingModel ScalingModel::of(const Problem& problem, int slices, int workers, bool at_once) {
  ScalingModel model{slices, workers, workers * make_schedule(problem, 1, 1).mean_order_sum(), at_once, {}};
  const auto header = static_cast<double>(sizeof(SliceHeader)) / Topology(problem.slabs, problem.periodic).lanes();
  const auto all = static_cast<double>(bytes_of(problem.layout, travelling_fields(problem.layout)));
  // Processes end at every W-th sub-step; so many of them, around the ring and around again, see all that there is.
  const auto kinds = static_cast<std::int64_t>(problem.kinds.size());
  bool any = false;
  for (std::int64_t process = 1; process <= kinds; ++process) {
    const Kind& kind = problem.kinds[static_cast<std::size_t>((process * workers - 1) % kinds)];
    const auto ahead = static_cast<double>(bytes_of(problem.layout, final_fields(problem.layout, kind)));
    any = any || ahead > 0;
    model.ends.push_back({ahead / (header + all), kind.out});
  }
  if (!any) model.ends.clear();
  return model;
}

double ScalingModel::ahead(double link, double work, double stage) const {
  double sum = 0;
  for (const End& end : ends) {
    const double begins_before = end.out * stage + (at_once ? work : work / workers);
    sum += std::min(end.ahead * link, begins_before);
  }
  return ends.empty() ? 0.0 : sum / static_cast<double>(ends.size());
}

double ScalingModel::efficiency(int processes) const {
  // Alone there is no transfer to wait for, and who takes turns with others never waits while anything can be done.
  if (processes == 1) return at_once ? std::min(1.0, slices / (order_sum + workers)) : 1.0;
  return std::min(1.0, n_max() / processes);
}

RingPlan::RingPlan(const Problem& problem, const PlanRequest& request)
    : problem_(problem),
      request_(checked(problem, request)),
      topology_(problem.slabs, problem.periodic),
      schedule_(make_schedule(problem, request.steps, positions())),
      scaling_(ScalingModel::of(problem, topology_.slices(), request.workers, request.at_once)) {
  const std::size_t slab = bytes_of(problem.layout, travelling_fields(problem.layout));
  wire_bytes_ = sizeof(SliceHeader) + slab * static_cast<std::size_t>(topology_.lanes());
  check_feedback();
  if (request_.slots == SlotChoice::given) check_given_slots();
  plan_slots();
  check_memory();
  collect_warnings();
}

// --- slots ----------------------------------------------------------------------------------------------------------

int RingPlan::slots_needed(int process, int ring) const {
  const bool from_network = !one_process() && ring == 0;
  const bool to_network = !one_process() && ring == request_.workers;
  const int writer = (position(process, ring) + positions() - 1) % positions();
  return std::min(topology_.slices(), schedule_.ring_need(writer, from_network, to_network));
}

std::int64_t RingPlan::slots_needed_in_all() const { return schedule_.slots_needed(topology_.slices(), one_process()); }

void RingPlan::plan_slots() {
  const int processes = request_.processes;
  slots_.resize(index(processes, 0));
  if (request_.slots == SlotChoice::given) {
    std::fill(slots_.begin(), slots_.end(), request_.slots_per_ring);
    return;
  }
  std::int64_t missing = slots_needed_in_all();
  for (int p = 0; p < processes; ++p) {
    for (int r = 0; r < rings(); ++r) {
      const int needed = slots_needed(p, r);
      missing -= needed;
      // A ring never holds more than N slices at a time, unless they are missing elsewhere.
      const int spare = request_.slots == SlotChoice::automatic ? request_.depth : 0;
      slots_[index(p, r)] = std::max(needed, std::min(needed + spare, topology_.slices()));
    }
  }
  for (int p = 0; p < processes && missing > 0; ++p) {
    const std::int64_t share = (missing + processes - p - 1) / (processes - p);
    slots_[index(p, 0)] += static_cast<int>(share);
    missing -= share;
  }
}

void RingPlan::check_given_slots() const {
  int largest = 1;
  for (int p = 0; p < request_.processes; ++p) {
    for (int r = 0; r < rings(); ++r) largest = std::max(largest, slots_needed(p, r));
  }
  const std::int64_t count = static_cast<std::int64_t>(request_.processes) * rings();
  const std::int64_t share = (slots_needed_in_all() + count - 1) / count;
  const std::int64_t needed = std::max<std::int64_t>(largest, share);
  if (request_.slots_per_ring >= needed) return;
  const std::string reason = largest >= share ? cat("the orders of the program need ", largest, " in one ring")
                                              : cat("all ", topology_.slices(),
                                                    " slices must fit into the ring with room to move, which takes ",
                                                    slots_needed_in_all(), " slots in ", count, " slot rings");
  throw PlanRefused("ring.slots", cat("slots = ", request_.slots_per_ring, " would block for ever: ", reason,
                                      "; set slots = ", needed, " or more, or slots = \"auto\""));
}

void RingPlan::check_feedback() const {
  const std::int64_t kinds = schedule_.kinds_a_step();
  std::int64_t smallest = 1;
  std::string who;
  const auto look_at = [&](const Kind& reader, std::int64_t reader_index) {
    for (int o : reader.feedback) {
      for (std::int64_t w = 0; w < schedule_.kinds(); ++w) {
        const auto& observed = problem_.kinds[static_cast<std::size_t>(w)].observed;
        if (std::find(observed.begin(), observed.end(), o) == observed.end()) continue;
        // The sum of step t - D is complete D x kinds a step + reader - writer (places in their steps) sub-steps
        // before: once around the ring, or more.
        const std::int64_t distance = positions() + w % kinds - reader_index % kinds;
        const std::int64_t delay = distance <= 0 ? 0 : (distance + kinds - 1) / kinds;
        if (delay <= smallest) continue;
        smallest = delay;
        who = cat("kind '", reader.name, "' asks for the sum of observable '",
                  problem_.observables[static_cast<std::size_t>(o)].name, "'");
      }
    }
  };
  for (std::int64_t k = 0; k < schedule_.kinds(); ++k) look_at(problem_.kinds[static_cast<std::size_t>(k)], k);
  if (problem_.finish) look_at(*problem_.finish, 0);
  // Nobody asks in a run that is over before.
  if (request_.feedback_delay >= smallest || request_.feedback_delay > request_.steps) return;
  throw PlanRefused("run.feedback_delay",
                    cat("feedback_delay = ", request_.feedback_delay, " is too small for ", request_.processes,
                        " processes x ", request_.workers, " workers: ", who,
                        " before its last slice has come around, and would wait for ever; set feedback_delay = ",
                        smallest, " or more, or use fewer workers"));
}

StageMachine::Setup RingPlan::setup(int process) const {
  StageMachine::Setup setup;
  setup.slices = topology_.slices();
  setup.workers = request_.workers;
  setup.first_position = position(process, 0);
  setup.one_process = one_process();
  const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(index(process, 0));
  setup.slots.assign(first, first + rings());
  setup.depth = request_.depth;
  return setup;
}

int RingPlan::slots_of(int process) const {
  const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(index(process, 0));
  return std::accumulate(first, first + rings(), 0);
}

std::int64_t RingPlan::slots_in_all() const { return std::accumulate(slots_.begin(), slots_.end(), std::int64_t{0}); }

// --- rates ----------------------------------------------------------------------------------------------------------

double RingPlan::rate() const {
  if (request_.rate) return *request_.rate;
  return problem_.core_rate > 0 && request_.cores > 0 ? problem_.core_rate * request_.cores : assumed_rate;
}

double RingPlan::stage_work_seconds() const {
  const double elements = static_cast<double>(problem_.elements) / topology_.slices();
  return request_.workers * elements / rate();
}

double RingPlan::stage_link_seconds() const {
  return one_process() ? 0.0 : static_cast<double>(wire_bytes_) / request_.bandwidth.value_or(assumed_bandwidth);
}

double RingPlan::stage_seconds() const {
  return problem_.elements == 0 ? 0.0 : std::max(stage_work_seconds(), stage_link_seconds());
}

double RingPlan::fill_seconds() const {
  // Workers that take turns are never idle for long within a process: what waits is the processes after the first.
  const int waiting = request_.at_once ? request_.processes : request_.processes - 1;
  return waiting * scaling_.lag() * stage_seconds();
}

double RingPlan::run_seconds() const {
  const std::int64_t cycles = schedule_.supercycles();
  if (cycles == 0 || problem_.elements == 0) return 0.0;
  const double stages = static_cast<double>(topology_.slices()) / efficiency();  // of one super-cycle
  // In the last super-cycle only as many workers work as there are sub-steps left.
  const std::int64_t left = schedule_.substeps() - (cycles - 1) * positions();
  const double busy = static_cast<double>(std::min<std::int64_t>(left, request_.workers)) / request_.workers;
  const double last_stage = std::max(busy * stage_work_seconds(), stage_link_seconds());
  return stages * (static_cast<double>(cycles - 1) * stage_seconds() + last_stage) + fill_seconds();
}

void RingPlan::collect_warnings() {
  // In a ring of one process, for example, more workers than slices take more memory, but no more time.
  if (efficiency() == 1) return;
  const int slices = topology_.slices();
  const std::string rate = cat("; expected efficiency ", percent_text(efficiency()));
  if (positions() > slices) {
    warnings_.push_back(cat("more workers than slices: ", positions(), " workers share ", slices, " slices", rate));
  } else {
    warnings_.push_back(cat("more processes than are kept busy: ", slices, " slices keep ", si_text(n_max()), " of ",
                            request_.processes, " processes with ", request_.workers, " workers busy", rate));
  }
}

}  // namespace dsea
