// One rank's run: device, plan, ring. Shared by programs and by run_local().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dsea/app/run_local.hpp"
#include "dsea/app/run_settings.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

/// Told when a ring begins (true) and ends (false), so that a signal handler can describe all rings. May be empty.
using OnRing = std::function<void(const Ring&, bool alive)>;

class RankRun {
 public:
  /// `ranks_here`: ranks that share this machine's memory. `only_plan`: the device need not be there, and the plan is
  /// for `planned` ranks (0: as many as the transport has). Makes program, device and plan; throws UsageError. Nothing
  /// big is allocated.
  RankRun(const MakeProgram& make, const Config& config, const DeviceOptions& device, Transport& transport, Log log,
          int ranks_here, bool only_plan = false, int planned = 0);

  /// Another rank of the same process, with the same plan and a copy of the program if it can be copied.
  RankRun(const RankRun& first, const MakeProgram& make, const Config& config, Transport& transport, Log log);

  /// Allocates the ring and runs all steps; takes the snapshots that configuration and program ask for.
  RingOutcome run(const RingOptions& options, const OnRing& on_ring);

  const Problem& problem() const { return problem_; }
  const RingPlan& plan() const { return *plan_; }
  const Device& device() const { return device_; }
  WorkerProgram& program() { return *program_; }

 private:
  Transport& transport_;
  Log log_;
  RunSettings settings_;
  std::unique_ptr<WorkerProgram> program_;
  Problem problem_;
  Device device_;
  std::optional<RingPlan> plan_;
  std::unique_ptr<Ring> ring_;  // kept until the end: other ranks may still copy from its memory
};

/// All but the snapshots, which depend on the program.
RingOptions ring_options(const RunSettings& settings);

/// All ranks as threads of this process; the caller plays rank 0.
class LocalRanks {
 public:
  /// Makes rank 0's part, which the others are copies of. Throws UsageError, also for more ranks than the system has
  /// threads for.
  LocalRanks(MakeProgram make, const Config& config, int ranks, const DeviceOptions& device, const Log& log,
             bool only_plan = false);

  RankRun& first() { return *runs_.front(); }
  std::string transport() const { return transports_.front()->describe(); }

  /// Allocates all rings and runs all steps. `options.on_row` is called for rank 0. Once.
  RingOutcome run(const RingOptions& options, const OnRing& on_ring);

 private:
  MakeProgram make_;
  Config config_;
  Log log_;
  // Rings outlive all threads: a rank that failed must keep its memory until nobody copies from it.
  std::vector<std::unique_ptr<RankRun>> runs_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

}  // namespace dsea
