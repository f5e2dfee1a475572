#include "dsea/app/run_settings.hpp"

#include <algorithm>
#include <numeric>

#include "dsea/base/machine.hpp"
#include "dsea/base/text.hpp"

namespace dsea {
namespace {

constexpr int most_workers = 1024;

void not_yet(const Config& config, const char* key) {
  if (config.get<std::int64_t>(key, 0, not_negative) != 0) {
    config.fail(key, "is not available in this version: set it to 0 or leave it out");
  }
}

/// Side fields made a sub-step, by one of the workers: the first of a process makes them whenever a slice comes, and so
/// does whoever comes at a multiple of `period`.
double sides_made(int workers, int period) {
  if (period == 0) return 0;
  return 1.0 / workers + 1.0 / period - 1.0 / std::lcm(workers, period);
}

}  // namespace

RunSettings RunSettings::read(const Config& config) {
  RunSettings s;
  s.steps = config.get<std::int64_t>("run.steps", s.steps, between(0, 1e15));
  s.out = config.get<std::string>("run.out", s.out);
  if (s.out.empty()) config.fail("run.out", "is empty: name a folder");
  s.seed = config.get<std::int64_t>("run.seed", s.seed);
  s.feedback_delay = config.get<std::int64_t>("run.feedback_delay", s.feedback_delay, between(1, 1e6));

  s.workers = config.count_or_auto("ring.workers");
  if (s.workers && *s.workers > most_workers) config.fail("ring.workers", cat("must be at most ", most_workers));
  if (const auto slots = config.count_or("ring.slots", {"auto", "fewest"}); slots.count) {
    if (*slots.count > 1'000'000) config.fail("ring.slots", "must be at most 1000000");
    s.slot_choice = SlotChoice::given;
    s.slots = static_cast<int>(*slots.count);
  } else if (slots.word == "fewest") {
    s.slot_choice = SlotChoice::fewest;
  }
  if (const auto depth = config.count_or_auto("ring.depth")) {
    if (*depth > 64) config.fail("ring.depth", "must be at most 64");
    s.depth = static_cast<int>(*depth);
  }
  s.rails = config.get<std::vector<std::string>>("ring.rails", {});
  for (auto rail = s.rails.begin(); rail != s.rails.end(); ++rail) {
    if (rail->empty()) config.fail("ring.rails", "has an empty name: name network devices, such as \"mlx5_0:1\"");
    if (std::find(s.rails.begin(), rail, *rail) != rail) {
      config.fail("ring.rails", cat("names '", *rail, "' twice: one rail for each network device"));
    }
  }
  s.relays = config.get<bool>("ring.relays", s.relays);
  s.share_gpu = config.get<bool>("ring.share_gpu", s.share_gpu);
  s.control = config.get<std::string>("ring.control", s.control);
  if (s.control.empty()) config.fail("ring.control", "is empty: name a network device, or \"auto\"");
  s.link_timeout = config.get<double>("ring.link_timeout", s.link_timeout);
  if (!(s.link_timeout >= 1 && s.link_timeout <= 3600)) {
    config.fail("ring.link_timeout",
                "must be between 1 and 3600 seconds: without a limit, a process that is stopped would hang all others");
  }
  s.watchdog = config.get<double>("ring.watchdog", s.watchdog, between(0.1, 1e6));
  s.async_streams = config.get<bool>("ring.async_streams", s.async_streams);
  s.delay_seed = config.get<std::int64_t>("ring.delay_seed", s.delay_seed, not_negative);

  s.thermo_every = config.get<std::int64_t>("output.thermo_every", s.thermo_every, not_negative);
  s.dump_every = config.get<std::int64_t>("output.dump_every", s.dump_every, not_negative);
  s.profile_every = config.get<std::int64_t>("output.profile_every", s.profile_every, not_negative);
  not_yet(config, "output.checkpoint_every");

  s.rate = config.find<double>("plan.rate", positive);
  s.bandwidth = config.find<double>("plan.bandwidth", positive);
  return s;
}

int choose_workers(const RunSettings& settings, const Problem& problem, int processes, bool at_once) {
  if (settings.workers) return static_cast<int>(*settings.workers);
  const int slices = Topology(problem.slabs, problem.periodic).slices();
  const std::int64_t substeps =
      settings.steps * static_cast<std::int64_t>(problem.kinds.size()) / problem.program_steps;
  const int period = problem.side_every * static_cast<int>(problem.kinds.size()) / problem.program_steps;
  // What the workers of a process have at hand should stay in the cache from one worker to the next: each of them about
  // the slices that it reads and one that it writes.
  const std::int64_t cache = at_once || period > 0 ? 0 : cache_bytes();
  const auto slice = static_cast<std::int64_t>(problem.layout.bytes_per_slab()) * (problem.periodic ? 2 : 1);
  const auto in_cache = [&](int w) { return cache == 0 || w * 3 * slice <= cache; };
  // Workers that take turns on one process never wait for each other, however few slices there are.
  const bool takes_turns = processes == 1 && !at_once && period > 0;
  const int most = std::max(takes_turns ? 1 : 8, std::min(period, 32));
  int best = 1;
  double best_rate = 0;
  for (int w = 1; w <= most && (w == 1 || w <= slices || takes_turns); ++w) {
    if (w > 1 && static_cast<std::int64_t>(w - 1) * processes >= std::max<std::int64_t>(1, substeps)) break;
    if (w > 1 && !in_cache(w)) break;
    const double busy = ScalingModel::of(problem, slices, w, at_once).efficiency(processes);
    const double rate = busy / (1 + problem.side_cost * sides_made(w, period));
    if (rate < best_rate) continue;  // of equals the larger one, which passes slices on less often
    best = w;
    best_rate = rate;
  }
  return best;
}

SnapshotSteps snapshot_steps(const RunSettings& settings, const Problem& problem) {
  SnapshotSteps s;
  s.dump_every = settings.dump_every;
  s.profile_every = problem.profiles_from ? settings.profile_every : 0;
  s.profile_from = problem.profiles_from.value_or(0);
  s.last = problem.last_snapshot;
  return s;
}

PlanRequest plan_request(const RunSettings& settings, const Problem& problem, int processes, const Device& device,
                         bool for_cuda) {
  PlanRequest r;
  r.steps = settings.steps;
  r.processes = processes;
  const bool cuda = for_cuda || device.is_cuda();
  r.at_once = cuda;
  r.workers = choose_workers(settings, problem, processes, r.at_once);
  r.slots = settings.slot_choice;
  r.slots_per_ring = settings.slots;
  // On the host a worker that goes on for some slices finds them in the nearest cache; with side fields, which are
  // large, that would take too much memory.
  const bool sides = std::any_of(problem.layout.entries().begin(), problem.layout.entries().end(),
                                 [](const SliceLayout::Entry& entry) { return !entry.travels; });
  r.depth = settings.depth > 0 ? settings.depth : (cuda || device.async() ? 2 : (sides || processes > 1 ? 1 : 4));
  r.feedback_delay = settings.feedback_delay;
  const bool snapshots = snapshot_steps(settings, problem).any() && problem.snapshot.size() > 0;
  r.snapshot_buffers = snapshots ? r.workers + 2 : 0;
  r.staging_slices = cuda ? 2 : 0;
  if (cuda == device.is_cuda()) {
    r.memory = static_cast<std::size_t>(std::max<std::int64_t>(0, device.memory_available()));
  }
  r.rate = settings.rate;
  r.cores = cuda ? 0 : device.threads();
  r.bandwidth = settings.bandwidth;
  return r;
}

}  // namespace dsea
