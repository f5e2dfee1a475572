// The main thread: asks the state machine what may start and starts it.
#include "dsea/base/backoff.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

void Ring::main_role() {
  using Clock = std::chrono::steady_clock;
  const auto last_worker = static_cast<std::size_t>(machine_.setup().workers - 1);
  const std::int64_t cycles = machine_.schedule().supercycles();
  Clock::time_point first_end{};
  double kernel_at_first_end = 0;
  std::int64_t cycle_ends = 0;
  Backoff backoff;
  const double cpu_start = thread_cpu_seconds();

  for (;;) {
    check_stop();
    const std::uint64_t seen = wake_main_.now();
    bool progress = false;
    bool under_way = false;
    bool done = false;
    bool wake_input = false;
    bool wake_output = false;
    for (std::size_t w = 0; w < runners_.size(); ++w) {
      while (const auto finished = runners_[w]->retire()) {
        progress = true;
        moved();
        ++report_.stages;
        report_.kernel_seconds += finished->kernel_seconds;
        for (std::size_t p = 0; p < max_phases; ++p) report_.phase_seconds[p] += finished->phase_seconds[p];
        if (w == 0) wake_input = true;
        if (w + 1 == last_worker) wake_output = true;  // what is handed on from there may go ahead
        if (w == last_worker) {
          wake_output = true;
          if (finished->job.slice == topology_.slices() - 1 && ++cycle_ends == 1) {
            first_end = Clock::now();
            kernel_at_first_end = report_.kernel_seconds;
          } else if (finished->job.slice == topology_.slices() - 1 && cycle_ends == cycles) {
            // The last super-cycle may hand on more than it works: count the steps that were made.
            const Schedule& s = machine_.schedule();
            const std::int64_t end = std::min(s.substeps() - (s.has_finish() ? 1 : 0), cycles * s.positions());
            report_.steady_steps =
                static_cast<double>(std::max<std::int64_t>(0, end - s.positions())) / s.kinds_a_step();
            report_.steady_seconds = std::chrono::duration<double>(Clock::now() - first_end).count();
            report_.steady_kernel_seconds = report_.kernel_seconds - kernel_at_first_end;
          }
        }
        if (finished->ledger_row) collect_rows();
        if (finished->snapshot) wake_io_.notify();
      }
    }
    // Before anything is launched: on the host that takes as long as the stage, and links would begin so much later.
    if (wake_input || wake_output) {
      {
        // Waking a thread for nothing costs more than a small stage.
        const std::scoped_lock lock(mutex_);
        wake_input = wake_input && machine_.can_receive();
        wake_output = wake_output && (machine_.can_send() || machine_.can_send_ahead());
      }
      if (wake_input) wake_input_.notify();
      if (wake_output) wake_output_.notify();
    }
    if (launch_something()) progress = true;
    {
      const std::scoped_lock lock(mutex_);
      bool through = true;
      for (int w = 0; w < machine_.setup().workers; ++w) {
        under_way = under_way || machine_.in_flight(w) > 0;
        through = through && !machine_.upcoming(w) && machine_.in_flight(w) == 0;
      }
      if (through) done = true;
    }
    if (done) break;
    if (progress) {
      backoff.reset();
      continue;
    }
    main_status_.set(under_way ? "waits for stages under way" : "waits for slices or free slots");
    // CUDA cannot wake a thread up: look again after a short sleep. Everything else notifies.
    if (under_way && device_.is_cuda())
      backoff.pause();
    else
      wake_main_.wait_past(seen, std::chrono::milliseconds(100));
  }
  report_.main_cpu_seconds = thread_cpu_seconds() - cpu_start;
}

bool Ring::launch_something() {
  // In a ring of one process who went last goes on, because what it reads next is in the nearest cache. Else, for
  // others wait for what goes out, furthest downstream first: upstream-first can halve the rate.
  const int workers = machine_.setup().workers;
  for (int k = machine_.setup().one_process ? -1 : 0; k < workers; ++k) {
    const int w = k < 0 ? last_launched_ : workers - 1 - k;
    std::optional<StageJob> job;
    {
      const std::scoped_lock lock(mutex_);
      job = machine_.possible(w);
      if (job && runners_[static_cast<std::size_t>(w)]->prepared(*job))
        machine_.start(*job);
      else
        job.reset();
    }
    if (!job) continue;
    main_status_.set("runs a worker", job->item);
    runners_[static_cast<std::size_t>(w)]->launch(*job);
    {
      const std::scoped_lock lock(mutex_);
      machine_.launched(*job);
    }
    last_launched_ = w;
    moved();
    return true;
  }
  return false;
}

void Ring::collect_rows() {
  if (rank_ != 0 || options_.table_every <= 0) {
    wake_main_.notify();
    return;
  }
  {
    const std::scoped_lock lock(rows_mutex_);
    const std::int64_t last = machine_.schedule().steps();
    for (; next_row_ <= last; ++next_row_) {
      const auto row = ledger_.find(next_row_);
      const std::uint64_t wanted = next_row_ == last ? last_row_mask_ : row_mask_;
      if (wanted == 0 && next_row_ != last) continue;
      if (!row || (row->known & wanted) != wanted || wanted == 0) break;
      if (next_row_ % options_.table_every == 0 || next_row_ == last) rows_.push_back(*row);
    }
  }
  wake_io_.notify();
}

}  // namespace dsea
