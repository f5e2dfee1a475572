// The framework's own part of a configuration: [run], [ring], [output], [plan].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsea/base/config.hpp"
#include "dsea/device/device.hpp"
#include "dsea/io/snapshot.hpp"
#include "dsea/ring/ring_plan.hpp"

namespace dsea {

/// The keys, with their defaults. Programs may ask for the same keys with the same type and default.
struct RunSettings {
  // [run]
  std::int64_t steps = 1000;
  std::string out = "out";           ///< folder of all output
  std::int64_t seed = 1;             ///< for programs that need random numbers
  std::int64_t feedback_delay = 64;  ///< full steps until reduced observables are seen by workers
  // [ring]
  std::optional<std::int64_t> workers;  ///< a rank; nothing: "auto"
  SlotChoice slot_choice = SlotChoice::automatic;
  int slots = 0;                   ///< a slot ring, with SlotChoice::given
  int depth = 0;                   ///< stages a worker may have under way; 0: "auto"
  std::vector<std::string> rails;  ///< network devices of transport ucx; empty: whatever UCX finds
  bool relays = false;             ///< transport ucx: ranks use their own cards and pass slices on for each other
  bool share_gpu = false;          ///< whether several processes may use one GPU
  std::string control = "auto";    ///< network device of the heartbeats between processes
  double link_timeout = 20;        ///< seconds: a process silent for so long has failed, as has a link at a standstill
  double watchdog = 120;           ///< seconds without progress that end the run
  bool async_streams = false;      ///< host back end: a thread a stream (debugging)
  std::int64_t delay_seed = 0;     ///< with async_streams: random delays (debugging)
  // [output]
  std::int64_t thermo_every = 100, dump_every = 0, profile_every = 0;
  // [plan]
  std::optional<double> rate, bandwidth;

  /// Reads and checks; UsageError with file and line. Asks for every key.
  static RunSettings read(const Config& config);
};

/// Workers a rank: as given, or with how many the run should be fastest: as many as still keep all processes busy, fit
/// into the cache of a host and make side fields rarely; 8 at most, or as many as there are steps between making them.
int choose_workers(const RunSettings& settings, const Problem& problem, int processes, bool at_once);

/// The steps of which a program takes snapshots.
SnapshotSteps snapshot_steps(const RunSettings& settings, const Problem& problem);

/// What the plan is asked for. `for_cuda`: it is for a CUDA device, wherever it is made.
PlanRequest plan_request(const RunSettings& settings, const Problem& problem, int processes, const Device& device,
                         bool for_cuda = false);

}  // namespace dsea
