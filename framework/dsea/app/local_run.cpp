// Ranks as threads of this process.
#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "dsea/app/rank_run.hpp"
#include "dsea/app/run_local.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/comm/local_transport.hpp"

namespace dsea {
namespace {

/// Every thread looks around ten times a second: a thousand ranks kept two cores from doing anything else.
constexpr int most_ranks = 256;
constexpr int most_planned = 100'000;
constexpr std::int64_t ring_threads = 5;  // main, input, output, io, watchdog

void check_ranks(int ranks, int kernel_threads, bool only_plan) {
  if (ranks < 1) throw UsageError(cat("a ring of ", ranks, " ranks: at least 1 is needed"));
  if (only_plan && ranks > most_planned) {
    throw UsageError(cat("a plan for ", ranks, " processes: at most ", most_planned, " can be planned"));
  }
  if (only_plan) return;
  if (ranks > most_ranks) {
    throw UsageError(cat(ranks, " ranks are more than the ", most_ranks,
                         " that may be threads of one process: start processes instead, by mpirun -n ", ranks));
  }
  const std::int64_t needed = ranks * (ring_threads + kernel_threads - 1);
  const ThreadLimit limit = thread_limit();
  if (needed > limit.threads) {
    throw UsageError(cat(ranks, " ranks in one process need ", needed, " threads, but ", limit.reason, " allows ",
                         limit.threads, ": use fewer ranks"));
  }
}

}  // namespace

LocalRanks::LocalRanks(MakeProgram make, const Config& config, int ranks, const DeviceOptions& device, const Log& log,
                       bool only_plan)
    : make_(std::move(make)), config_(config), log_(log) {
  check_ranks(ranks, device.threads, only_plan);
  transports_ = make_local_transports(only_plan ? 1 : ranks);  // those of ten thousand ranks would take a while
  runs_.resize(transports_.size());
  runs_[0] = std::make_unique<RankRun>(make_, config_, device, *transports_[0], log_.for_rank(0, ranks), ranks,
                                       only_plan, only_plan ? ranks : 0);
}

RingOutcome LocalRanks::run(const RingOptions& options, const OnRing& on_ring) {
  const int ranks = static_cast<int>(runs_.size());
  for (int rank = 1; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    runs_[r] = std::make_unique<RankRun>(first(), make_, config_, *transports_[r], log_.for_rank(rank, ranks));
  }
  std::vector<std::exception_ptr> errors(runs_.size());
  RingOutcome outcome;
  const auto fails = [&](int rank, std::exception_ptr why) {
    errors[static_cast<std::size_t>(rank)] = std::move(why);
    transports_[static_cast<std::size_t>(rank)]->fail(static_cast<int>(ExitCode::failed), "");
  };
  const auto play = [&](int rank) {
    try {
      RingOptions mine = options;
      if (rank != 0) mine.on_row = nullptr;
      RingOutcome result = runs_[static_cast<std::size_t>(rank)]->run(mine, on_ring);
      if (rank == 0) outcome = std::move(result);
    } catch (...) {
      fails(rank, std::current_exception());
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (int rank = 1; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
          block_signals();
          name_this_thread(cat("dsea main ", rank));
          play(rank);
        });
      }
      play(0);
    } catch (const std::system_error& e) {  // those there are must not wait for the others
      fails(0, std::make_exception_ptr(RunError(
                   cat("cannot start the thread of rank ", threads.size() + 1, ": ", e.what(), ": use fewer ranks"))));
    }
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
  LocalRanks all(make, config, ranks, device, log != nullptr ? *log : Log());
  RankRun& first = all.first();
  RunOutcome outcome;
  RingOptions options = ring_options(RunSettings::read(config));
  options.on_row = [&](const StepSums& sums) {
    TableRow row;
    row.step = sums.step;
    row.sums.assign(sums.values, sums.values + first.problem().observables.size());
    row.columns = first.program().row(first.problem(), sums);
    outcome.rows.push_back(std::move(row));
  };
  outcome.ring = all.run(options, {});
  return outcome;
}

}  // namespace dsea
