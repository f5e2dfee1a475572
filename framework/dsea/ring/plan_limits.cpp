// What limits a RingPlan's rate in its steady part, and what would lift the limit.
#include <algorithm>
#include <set>

#include "dsea/ring/plan_lines.hpp"
#include "dsea/ring/ring_plan.hpp"

namespace dsea {

Limit RingPlan::limit() const {
  if (efficiency() < 1) return Limit::slices;
  return stage_work_seconds() >= stage_link_seconds() ? Limit::work : Limit::link;
}

double RingPlan::steady_rate() const {
  if (problem_.elements == 0) return 0.0;
  const double worked_on = efficiency() * positions() * static_cast<double>(problem_.elements) / topology_.slices();
  return worked_on / (stage_seconds() * schedule_.kinds_a_step());
}

double RingPlan::lag_seconds() const {
  // The neighbours that the workers wait for come one a stage; the slice itself goes through the workers, and over the
  // link, as far as it has not gone ahead.
  const double through = (request_.at_once ? request_.workers : 1) * stage_work_seconds();
  const double link = stage_link_seconds();
  return scaling_.order_sum * stage_seconds() + through + link -
         scaling_.ahead(link, stage_work_seconds(), stage_seconds());
}

double RingPlan::n_max_expected() const {
  return problem_.elements == 0 ? n_max() : topology_.slices() * stage_seconds() / lag_seconds();
}

std::string RingPlan::limit_text() const {
  using namespace plan_lines;
  std::string text;
  const std::string work = seconds_text(stage_work_seconds()), link = seconds_text(stage_link_seconds());
  switch (limit()) {
    case Limit::slices:
      text = line("limit", cat("the number of slices: ", topology_.slices(), " keep ", tenths(n_max()), " of ",
                               request_.processes, " processes busy, and ", std::max(1, static_cast<int>(n_max())),
                               " would be about as fast, and filled sooner"));
      text += line("", cat("more slices keep more of them busy: a longer stream axis or thinner slabs",
                           request_.workers > 1 ? "; so do fewer workers a process" : ""));
      break;
    case Limit::work:
      text = line("limit", one_process() ? cat("the workers, which are always busy")
                                         : cat("the workers, which are always busy (links ",
                                               percent_text(stage_link_seconds() / stage_seconds()),
                                               " of the time); up to ", tenths(n_max()), " processes are worth it"));
      break;
    case Limit::link:
      text = line("limit", cat("the links: a slice takes ", link, " to be moved, but only ", work,
                               " to be worked on, so workers are busy ",
                               percent_text(stage_work_seconds() / stage_link_seconds()), " of the time"));
      text += line("", "faster links (more rails), or more workers a process, which send a slice less often, help");
      break;
  }
  if (schedule_.substeps() < positions()) {
    text += line("", cat("the run is too short for so many: only ", schedule_.substeps(), " of ", positions(),
                         " workers ever have something to do"));
  }
  const std::size_t needed = bytes(largest_process());
  const std::string needs = cat("a process needs up to ", bytes_text(static_cast<double>(needed)));
  if (!request_.memory) {
    text += line("", cat("memory is not known here: ", needs));
  } else if (needed > *request_.memory) {
    text += line("", cat("but before all of that memory: ", needs, " and has ",
                         bytes_text(static_cast<double>(*request_.memory))));
  }
  return text;
}

std::string RingPlan::workers_text() const {
  using namespace plan_lines;
  if (one_process() || problem_.elements == 0) return {};
  std::string text;
  const auto row = [&](const std::string& workers, const std::string& most, const std::string& busy,
                       const std::string& stage, const std::string& what, const std::string& rate) {
    text += line(text.empty() ? "workers" : "",
                 cat(right(workers, 9), right(most, 9), right(busy, 13), right(stage, 11), "  ", left(what, 12), rate));
  };
  row("a process", "N_max", "efficiency", "stage", "limited by", cat(problem_.element_name, " x steps/s"));
  std::set<int> counts{1, 2, 4, 8, request_.workers};
  for (const int workers : counts) {
    PlanRequest request = request_;
    request.workers = workers;
    request.memory.reset();
    request.slots = SlotChoice::automatic;
    const std::string name = cat(workers == request_.workers ? "-> " : "", workers);
    try {
      const RingPlan plan(problem_, request);
      const char* const what = plan.limit() == Limit::slices ? "slices"
                               : plan.limit() == Limit::work ? "workers"
                                                             : "links";
      row(name, tenths(plan.n_max()), percent_text(plan.efficiency()), seconds_text(plan.stage_seconds()), what,
          si_text(plan.steady_rate()));
    } catch (const PlanRefused& e) {
      row(name, "", "", "", "", cat("refused: needs another [", e.key(), "]"));
    } catch (const UsageError&) {  // more workers than can be planned
    }
  }
  return text;
}

}  // namespace dsea
