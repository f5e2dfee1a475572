// Ranks as threads of this process.
#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "dsea/app/rank_run.hpp"
#include "dsea/app/run_local.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/comm/local_transport.hpp"

namespace dsea {

RingOutcome run_ranks_here(const MakeProgram& make, const Config& config, int ranks, const DeviceOptions& device,
                           const RingOptions& options, const Log& log, const OnRing& on_ring) {
  // Rings and transports outlive all threads: a rank that failed must keep its memory until nobody copies from it.
  std::vector<std::unique_ptr<RankRun>> runs(static_cast<std::size_t>(ranks));
  const auto transports = make_local_transports(ranks);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  RingOutcome outcome;
  const auto play = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    try {
      runs[r] = std::make_unique<RankRun>(make, config, device, *transports[r], log.for_rank(rank, ranks), ranks);
      RingOptions mine = options;
      if (rank != 0) mine.on_row = nullptr;
      RingOutcome result = runs[r]->run(mine, on_ring);
      if (rank == 0) outcome = std::move(result);
    } catch (...) {
      errors[r] = std::current_exception();
      transports[r]->fail(static_cast<int>(ExitCode::failed));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int rank = 1; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        block_signals();
        name_this_thread(cat("dsea main ", rank));
        play(rank);
      });
    }
    play(0);
  }
  // The error that came first in the sense of cause: one that is not merely "another rank failed".
  std::exception_ptr first;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    if (!first) first = error;
    try {
      std::rethrow_exception(error);
    } catch (const PeerFailed&) {
      continue;
    } catch (...) {
      std::rethrow_exception(error);
    }
  }
  if (first) std::rethrow_exception(first);
  return outcome;
}

RunOutcome run_local(const MakeProgram& make, const Config& config, int ranks, const DeviceOptions& device,
                     const Log* log) {
  if (ranks < 1) throw UsageError(cat("a ring of ", ranks, " ranks: at least 1 is needed"));
  const Log warnings;
  const RunSettings settings = RunSettings::read(config);
  const auto program = make(config);
  const Problem problem = program->problem();
  RunOutcome outcome;
  RingOptions options = ring_options(settings);
  options.on_row = [&](const StepSums& sums) {
    TableRow row;
    row.step = sums.step;
    row.sums.assign(sums.values, sums.values + problem.observables.size());
    row.columns = program->row(problem, sums);
    outcome.rows.push_back(std::move(row));
  };
  outcome.ring = run_ranks_here(make, config, ranks, device, options, log != nullptr ? *log : warnings, {});
  return outcome;
}

}  // namespace dsea
