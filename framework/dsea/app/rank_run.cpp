#include "dsea/app/rank_run.hpp"

#include "dsea/base/machine.hpp"

namespace dsea {
namespace {

DeviceOptions device_options(const RunSettings& settings, DeviceOptions options) {
  options.async_streams = options.async_streams || settings.async_streams;
  if (settings.delay_seed != 0) options.delay_seed = static_cast<std::uint64_t>(settings.delay_seed);
  return options;
}

/// The program; an error of its configuration also names what may have been misspelt.
std::unique_ptr<WorkerProgram> make_program(const MakeProgram& make, const Config& config) {
  try {
    return make(config);
  } catch (const UsageError& e) {
    const std::string suspects = config.suspects();
    if (suspects.empty()) throw;
    throw UsageError(e.what() + suspects);
  }
}

/// Plans are also made where the device they are for is not there, as on a login node.
Device open_device(const DeviceOptions& options, bool only_plan, const Log& log) {
  if (!only_plan || options.backend != "cuda") return Device::open(options);
  try {
    return Device::open(options);
  } catch (const Error& e) {
    log.warning("the plan is for a CUDA device, but none is here (", e.what(), "): its memory is not checked");
    DeviceOptions host = options;
    host.backend = "host";
    return Device::open(host);
  }
}

}  // namespace

RingOptions ring_options(const RunSettings& settings) {
  RingOptions o;
  o.table_every = settings.thermo_every;
  o.out = settings.out;
  o.watchdog_seconds = settings.watchdog;
  return o;
}

RankRun::RankRun(const MakeProgram& make, const Config& config, const DeviceOptions& device, Transport& transport,
                 Log log, int ranks_here, bool only_plan, int planned)
    : transport_(transport),
      log_(std::move(log)),
      settings_(RunSettings::read(config)),
      program_(make_program(make, config)),
      problem_(program_->problem()),
      device_(open_device(device_options(settings_, device), only_plan, log_)) {
  config.check_all_used();
  problem_.check();
  for (const Kind& k : problem_.kinds) {
    if (k.out > 0 && !program_->has_merge()) {
      throw UsageError(cat("kind '", k.name, "' contributes to neighbours, but the program has no merge()"));
    }
    if (!k.fed.empty())
      throw UsageError(cat("kind '", k.name, "' takes a feed: feeds are not available in this version"));
  }
  if (problem_.finish && !program_->has_finish()) {
    throw UsageError("the problem has a closing pass, but the program has no finish()");
  }
  if (settings_.profile_every > 0 && !problem_.profiles_from) {
    config.fail("output.profile_every", "this program makes no profiles: set it to 0 or leave it out");
  }
  PlanRequest request = plan_request(settings_, problem_, planned > 0 ? planned : transport.size(), device_,
                                     only_plan && device.backend == "cuda");
  if (!device_.is_cuda() && request.memory) *request.memory /= static_cast<std::size_t>(ranks_here);
  request.only_warn = only_plan;
  try {
    plan_.emplace(problem_, request);
  } catch (const PlanRefused& e) {
    config.fail(e.key(), e.what());
  }
}

RankRun::RankRun(const RankRun& first, const MakeProgram& make, const Config& config, Transport& transport, Log log)
    : transport_(transport),
      log_(std::move(log)),
      settings_(first.settings_),
      program_(first.program_->copy()),
      problem_(first.problem_),
      device_(first.device_),
      plan_(first.plan_) {
  if (!program_) program_ = make(config);
}

RingOutcome RankRun::run(const RingOptions& options, const OnRing& on_ring) {
  RingOptions all = options;
  all.snapshots = snapshot_steps(settings_, problem_);
  if (all.snapshots.any() && (!program_->has_snapshots() || problem_.snapshot.size() == 0)) {
    throw UsageError("snapshots are asked for ([output] dump_every), but this program has none: set it to 0");
  }
  ring_ = std::make_unique<Ring>(*program_, problem_, *plan_, all, device_, transport_, log_);
  if (on_ring) on_ring(*ring_, true);
  struct Ended {
    const OnRing& on_ring;
    const Ring& ring;
    ~Ended() {
      if (on_ring) on_ring(ring, false);
    }
  } const ended{on_ring, *ring_};
  return ring_->run();
}

}  // namespace dsea
