#include "dsea/app/run_figures.hpp"

#include <algorithm>

#include "dsea/slice/digest.hpp"

namespace dsea {

RunFigures figures_of(const std::string& program, const RankRun& rank, const RingOutcome& outcome,
                      const std::string& transport) {
  const Problem& p = rank.problem();
  const int n = rank.plan().request().processes;
  RunFigures f;
  f.program = program;
  f.digest = digest_text(outcome.digest);
  f.step = outcome.step;
  f.elements = p.elements;
  f.element_name = p.element_name;
  f.steady = outcome.steady_steps > 0 && outcome.steady_seconds > 0;
  const double steps = f.steady ? outcome.steady_steps : static_cast<double>(outcome.step);
  f.rate = static_cast<double>(p.elements) * steps / (f.steady ? outcome.steady_seconds : outcome.wall_seconds);
  f.wall_s = outcome.wall_seconds;
  std::uint64_t sent_bytes = 0;
  std::int64_t sent = 0;
  // Rank 0 gets its first super-cycle from the loaders, all the rest from the ring.
  f.slices_received_least = outcome.ranks.front().received + rank.plan().topology().slices();
  for (const RankReport& r : outcome.ranks) {
    f.kernel_s += r.kernel_seconds / n;
    sent_bytes += r.sent_bytes;
    sent += r.sent;
    if (r.rank > 0) f.slices_received_least = std::min(f.slices_received_least, r.received);
  }
  const double work = static_cast<double>(p.elements) * static_cast<double>(outcome.step) * 1e-9;
  if (!p.phases.empty() && work > 0) {
    double rest = f.kernel_s * n;
    for (std::size_t k = 0; k < p.phases.size(); ++k) {
      double seconds = 0;
      for (const RankReport& r : outcome.ranks) seconds += r.phase_seconds[k];
      f.phases.emplace_back(p.phases[k], seconds / work);
      rest -= seconds;
    }
    f.phases.emplace_back("other kernels", rest / work);
    f.phases.emplace_back("without kernels", n * std::max(0.0, f.wall_s - f.kernel_s) / work);
  }
  f.overhead = std::clamp(1 - f.kernel_s / f.wall_s, 0.0, 1.0);
  f.slices = rank.plan().topology().slices();
  f.slabs = p.slabs;
  // In a ring of one process slices come from the loader only.
  f.slices_expected = n == 1 ? f.slices : rank.plan().schedule().supercycles() * f.slices;
  if (sent > 0)
    f.bytes_per_element =
        static_cast<double>(sent_bytes) / static_cast<double>(sent) * f.slices / static_cast<double>(p.elements);
  f.ranks = n;
  f.workers = rank.plan().request().workers;
  f.threads = rank.device().threads();
  f.device = rank.device().name();
  f.transport = transport;
  f.isa = isa_name(rank.device().isa());
  return f;
}

}  // namespace dsea
