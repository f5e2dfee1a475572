#include "dsea/ring/ring.hpp"

#include <algorithm>
#include <cstring>

#include "dsea/base/check.hpp"
#include "dsea/base/threads.hpp"

namespace dsea {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Steps whose sums may still be asked for, or are on their way to rank 0.
std::int64_t ledger_window(const RingPlan& plan) {
  const Schedule& schedule = plan.schedule();
  return schedule.positions() / schedule.kinds_a_step() + plan.request().feedback_delay + 3;
}

std::vector<int> rings_of(const RingPlan& plan, int rank) { return plan.setup(rank).slots; }

std::vector<int> buffers_of(const Problem& problem, const RingPlan& plan, int rank) {
  std::vector<int> buffers;
  buffers.reserve(static_cast<std::size_t>(problem.layout.size()));
  for (int f = 0; f < problem.layout.size(); ++f) buffers.push_back(plan.buffers(rank, f));
  return buffers;
}

std::uint64_t mask(const std::vector<int>& observed) {
  std::uint64_t bits = 0;
  for (int o : observed) bits |= 1ULL << o;
  return bits;
}

}  // namespace

Ring::Ring(WorkerProgram& program, const Problem& problem, const RingPlan& plan, const RingOptions& options,
           const Device& device, Transport& transport, const Log& log)
    : program_(program),
      problem_(problem),
      plan_(plan),
      options_(options),
      device_(device),
      transport_(transport),
      log_(log),
      topology_(plan.topology()),
      rank_(transport.rank()),
      machine_(plan.setup(rank_), plan.schedule()),
      slots_(device, problem.layout, topology_.lanes(), rings_of(plan, rank_), buffers_of(problem, plan, rank_)),
      ledger_(ledger_window(plan)),
      snapshots_(device, problem.snapshot, topology_.lanes(), plan.request().snapshot_buffers),
      input_staging_(device, problem.layout, topology_.lanes()),
      output_staging_(device, problem.layout, topology_.lanes()),
      io_staging_(device, problem.snapshot, topology_.lanes()) {
  DSEA_CHECK_EQ(transport.size(), plan.request().processes);
  for (const Kind& k : problem.kinds) row_mask_ |= mask(k.observed);
  if (problem.finish) last_row_mask_ = mask(problem.finish->observed);
  rows_.reserve(64);
  for (auto* rows : {&rows_out_, &rows_in_}) rows->reserve(static_cast<std::size_t>(ledger_.window()));
  program_.prepare(device);
  environment_ = std::make_unique<RunnerEnvironment>(
      RunnerEnvironment{program, problem, topology_, device_, mutex_, machine_, slots_, ledger_, snapshots_, nullptr,
                        wake_main_, wake_output_, plan.request().feedback_delay, options.table_every,
                        program.has_snapshots() ? options.snapshots : SnapshotSteps{}});
  for (int w = 0; w < plan.request().workers; ++w) {
    runners_.push_back(
        std::make_unique<StageRunner>(*environment_, w, plan.request().depth, plan.region_sets(rank_, w)));
  }
  if (device.is_cuda()) {
    transport_.set_copy(
        [this](void* to, const void* from, std::size_t bytes) { input_staging_.copy_bytes(to, from, bytes); });
  }
  if (!device.is_cuda() || transport.takes_device_memory()) {
    slots_.pools().for_each_memory(
        [&](void* data, std::size_t bytes) { transport_.use_memory(data, bytes, device.is_cuda()); });
  }
  report_.rank = rank_;
  report_.ranks = transport.size();
  report_.workers = plan.request().workers;
}

Ring::~Ring() = default;

bool Ring::stopping() const { return stop_.load(std::memory_order_relaxed) || transport_.peer_failed(); }

void Ring::check_stop() const {
  if (stopping()) throw Stopped{};
}

void Ring::fail(const RoleStatus& status, const std::string& what, ExitCode code) {
  const std::string message = cat(status.text(topology_.slices()), ": ", what);
  {
    const std::scoped_lock lock(error_mutex_);
    if (first_error_.empty()) {
      first_error_ = message;
      error_code_ = code;
      log_.error(transport_.who(), ", ", message);
    }
  }
  stop_ = true;
  for (Signal* signal : {&wake_main_, &wake_input_, &wake_output_, &wake_io_}) signal->notify();
  if (!transport_.in_one_process()) said_stop_ = true;  // news of it come back to this rank, too
  transport_.fail(static_cast<int>(code), cat(transport_.who(), ", ", message));
}

void Ring::say_stop() {
  const std::string why = transport_.failure();
  if (why.empty() || said_stop_.exchange(true)) return;
  const int slices = topology_.slices();
  log_.error(transport_.who(), " stops: ", why, "; here ", input_status_.text(slices), ", ",
             output_status_.text(slices), rails_text(), "\n", describe());
}

std::string Ring::rails_text() const {
  const std::vector<RailTraffic> rails = transport_.rails();
  const auto text_of = [](const RailTraffic& rail) { return rail.name + (rail.lost.empty() ? "" : " (lost)"); };
  return rails.empty() ? "" : " by " + joined(rails, ", ", text_of);
}

template <class Role>
void Ring::guarded(RoleStatus& status, Role role) {
  try {
    role();
    status.set("is through");
  } catch (const Stopped&) {
    say_stop();
  } catch (const Error& e) {
    fail(status, e.what(), e.exit_code());
  } catch (const std::exception& e) {
    fail(status, e.what(), ExitCode::failed);
  } catch (...) {
    fail(status, "something was thrown that is no std::exception", ExitCode::failed);
  }
}

RingOutcome Ring::run() {
  const Clock::time_point start = Clock::now();
  {
    std::jthread watchdog([this] { watchdog_role(); });
    {
      const auto role_thread = [this](RoleStatus& status, auto member) {
        return std::jthread([this, &status, member] {
          block_signals();
          name_this_thread(cat("dsea ", status.role(), " ", rank_));
          device_.make_current();
          guarded(status, [&] { (this->*member)(); });
        });
      };
      std::vector<std::jthread> roles;
      guarded(main_status_, [&] {
        main_status_.set("starts the other threads");
        roles.push_back(role_thread(input_status_, &Ring::input_role));
        roles.push_back(role_thread(output_status_, &Ring::output_role));
        if (rank_ > 0) roles.push_back(role_thread(load_status_, &Ring::load_role));
        roles.push_back(role_thread(io_status_, &Ring::io_role));
        device_.make_current();
        main_role();
      });
      // What was launched before a failure still uses the ring's memory; the watchdog looks on.
      for (const auto& runner : runners_) runner->settle();
      stages_done_ = true;
      wake_io_.notify();
    }
    report_.wall_seconds = seconds_since(start);
    threads_done_ = true;
    watchdog_wake_.notify();
  }
  throw_if_failed();
  return gather_reports();
}

void Ring::throw_if_failed() {
  if (!first_error_.empty()) throw RingFailed(cat(transport_.who(), ", ", first_error_), error_code_);
  if (!stopping()) return;
  say_stop();
  throw PeerFailed(cat(transport_.who(), " stopped because another rank failed"), ExitCode::failed);
}

RingOutcome Ring::gather_reports() {
  // The last rank's ledger has the rows of the last super-cycle, which nobody carries to rank 0 any more.
  std::vector<LedgerRow> rows(static_cast<std::size_t>(ledger_.window()));
  rows.resize(ledger_.collect(-1, rows));
  std::vector<std::byte> mine(sizeof report_ + rows.size() * sizeof(LedgerRow));
  std::memcpy(mine.data(), &report_, sizeof report_);
  if (!rows.empty()) std::memcpy(mine.data() + sizeof report_, rows.data(), rows.size() * sizeof(LedgerRow));

  // Other ranks drain for as long as the slices need to reach the end of the ring.
  const double stretch = 2.0 + plan_.scaling().lag() * plan_.request().processes / double(topology_.slices());
  const double patience = options_.watchdog_seconds + stretch * report_.wall_seconds;
  const std::chrono::nanoseconds limit(static_cast<std::int64_t>(patience * 1e9));
  std::vector<std::vector<std::byte>> all;
  guarded(main_status_, [&] {
    main_status_.set("gathers the reports of all ranks");
    try {
      all = transport_.gather(mine, limit);
      transport_.finish(limit);
    } catch (const RunError& e) {
      stop_if_peer_failed(e);
      throw;
    }
  });
  throw_if_failed();

  RingOutcome outcome;
  if (rank_ != 0) {
    outcome.ranks.push_back(report_);
    return outcome;
  }
  for (const auto& bytes : all) {
    RankReport report;
    DSEA_CHECK_LE(sizeof report, bytes.size());
    std::memcpy(&report, bytes.data(), sizeof report);
    outcome.ranks.push_back(report);
    outcome.digest += report.digest;
    outcome.step = std::max(outcome.step, report.step);
    outcome.wall_seconds = std::max(outcome.wall_seconds, report.wall_seconds);
    for (std::size_t at = sizeof report; at + sizeof(LedgerRow) <= bytes.size(); at += sizeof(LedgerRow)) {
      LedgerRow row;
      std::memcpy(&row, bytes.data() + at, sizeof row);
      ledger_.add(row);
    }
    collect_rows();
  }
  outcome.steady_seconds = outcome.ranks.back().steady_seconds;
  outcome.steady_steps = outcome.ranks.back().steady_steps;
  hand_out_rows();
  program_.close_output(options_.out);
  return outcome;
}

std::string Ring::describe() const {
  std::string text = cat("rank ", rank_, " of ", transport_.size(), ", ", topology_.slices(), " slices:\n");
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
    text += machine_.describe();
  else
    text += "  slot states are being changed right now\n";
  for (const RoleStatus* status : {&main_status_, &input_status_, &output_status_, &load_status_, &io_status_}) {
    if (status == &load_status_ && rank_ == 0) continue;
    text += cat("  ", status->text(topology_.slices()), "\n");
  }
  text.pop_back();  // the last end of line
  return text;
}

}  // namespace dsea
