// RingPlan in words: what --plan prints.
#include <algorithm>
#include <cmath>

#include "dsea/base/text.hpp"
#include "dsea/ring/plan_lines.hpp"
#include "dsea/ring/ring_plan.hpp"

namespace dsea {

std::string RingPlan::percent_text(double share) {
  using namespace plan_lines;
  if (share < 0.001) return "below 0.1 %";
  if (share > 0.99 && share < 1) return "above 99 %";
  return share < 0.1 ? tenths(100 * share) + " %" : cat(std::lround(100 * share), " %");
}

std::string RingPlan::slots_text() const {
  using namespace plan_lines;
  constexpr int most_lines = 8;
  std::string text;
  int lines = 0;
  for (int first = 0, end = 0; first < request_.processes; first = end) {
    const auto same = [&](int p) {
      for (int r = 0; r < rings(); ++r) {
        if (slots(p, r) != slots(first, r)) return false;
      }
      return true;
    };
    for (end = first + 1; end < request_.processes && same(end); ++end) {
    }
    if (++lines > most_lines && end < request_.processes) continue;
    if (lines > most_lines + 1) text += line("", cat("(", lines - most_lines - 1, " more groups)"));
    std::string rings_of;
    for (int r = 0; r < rings(); ++r) rings_of += cat(r == 0 ? "" : " + ", slots(first, r));
    text += line(lines == 1 ? "slots" : "",
                 cat(end - first == 1 ? cat("process ", first) : cat("processes ", first, "..", end - 1), ": ",
                     rings_of, " = ", slots_of(first), end - first == 1 ? "" : " each"));
  }
  const std::int64_t needed = slots_needed_in_all();
  text += line("", cat(slots_in_all(), " in all; ",
                       needed == 0 ? std::string("slices go around once, so no number in all is needed")
                                   : cat("below ", needed, " the ring would block")));
  return text;
}

std::string RingPlan::bytes_text_of(int process) const {
  using namespace plan_lines;
  const std::vector<MemoryRow> rows = memory(process);
  std::size_t width = 5, counts = 1;
  for (const MemoryRow& row : rows) {
    width = std::max(width, row.what.size());
    counts = std::max(counts, cat(row.count).size());
  }
  std::string text;
  for (const MemoryRow& row : rows) {
    text += line(text.empty() ? "bytes" : "", cat(left(row.what, width), "  ", right(cat(row.count), counts), " x ",
                                                  right(bytes_text(static_cast<double>(row.bytes_each)), 9), "  ",
                                                  right(bytes_text(static_cast<double>(row.bytes())), 9),
                                                  row.pinned_host ? "  pinned host memory" : ""));
  }
  const std::string available =
      request_.memory ? cat(" of ", bytes_text(static_cast<double>(*request_.memory)), " available") : std::string();
  text += line("", cat(left("sum", width), "  ", right("", counts + 14),
                       right(bytes_text(static_cast<double>(bytes(process))), 9), available,
                       request_.processes == 1 ? "" : cat(" (process ", process, ", the largest)")));
  return text;
}

std::string RingPlan::rates_text() const {
  using namespace plan_lines;
  const std::string unit = cat(problem_.element_name, " x worker-steps/s a process");
  std::string text =
      line("rates", cat(request_.rate ? "" : "assumed ([plan] rate is not set): ", si_text(rate()), " ", unit));
  if (!one_process()) {
    text += line("", cat(request_.bandwidth ? "" : "assumed ([plan] bandwidth is not set): ",
                         si_text(request_.bandwidth.value_or(assumed_bandwidth)), "B/s a link"));
  }
  if (problem_.elements == 0)
    return text + line("stage", "not known: the problem does not say how many elements it has");

  std::string bottleneck = stage_work_seconds() >= stage_link_seconds() ? "the workers" : "the link";
  if (limit() == Limit::slices) bottleneck = cat("the number of slices, then ", bottleneck);
  text += line("stage", cat("work ", seconds_text(stage_work_seconds()),
                            one_process() ? std::string(", no link")
                                          : cat(", link ", seconds_text(stage_link_seconds()), " (",
                                                bytes_text(static_cast<double>(wire_bytes_)), " a full slice)"),
                            "; bottleneck: ", bottleneck));
  text += line("fill", cat("and drain ", seconds_text(fill_seconds()), " each"));
  const double steps = static_cast<double>(problem_.elements) * static_cast<double>(request_.steps);
  text += line(
      "run", cat(seconds_text(run_seconds()), " for ", plural(request_.steps, "step"),
                 run_seconds() > 0 ? cat(", ", si_text(steps / run_seconds()), " ", problem_.element_name, " x steps/s")
                                   : std::string(),
                 request_.rate && (request_.bandwidth || one_process()) ? "" : ", with what is assumed"));
  return text;
}

std::string RingPlan::text() const {
  using namespace plan_lines;
  const int slices = topology_.slices();
  std::string text = line("ring", cat(request_.processes, request_.processes == 1 ? " process" : " processes", " x ",
                                      plural(request_.workers, "worker"), " = ", plural(positions(), "position"), ", ",
                                      plural(request_.depth, "stage"), " under way a worker"));
  text += line("slices", problem_.periodic ? cat(slices, " (", plural(problem_.slabs, "slab"), ", two a slice: folded)")
                                           : cat(slices, " (one slab each)"));
  std::string kinds;
  for (std::size_t k = 0, same = 1; k < problem_.kinds.size(); k += same) {
    const auto text_of = [&](std::size_t i) {
      const Kind& kind = problem_.kinds[i];
      return cat(kind.name, " ", kind.in, "/", kind.out);
    };
    for (same = 1; k + same < problem_.kinds.size() && text_of(k + same) == text_of(k);) ++same;
    kinds += cat(kinds.empty() ? "" : ", ", same == 1 ? "" : cat(same, " x "), text_of(k));
  }
  text += line("program", cat(kinds, problem_.finish ? ", then " + problem_.finish->name : "", " (in/out); ",
                              plural(schedule_.supercycles(), "super-cycle"), " for ", plural(request_.steps, "step")));
  text += slots_text();
  text += bytes_text_of(largest_process());
  text += line("N_max", cat(tenths(n_max()), " processes = ", slices, " / ", tenths(scaling_.lag()), ", ",
                            request_.at_once ? "workers of a process run at once" : "workers of a process take turns",
                            "; efficiency ", percent_text(efficiency())));
  const std::string lag = tenths(scaling_.lag()), usual = tenths(scaling_.lag() + scaling_.ahead(1, 1, 1));
  if (lag != usual)
    text += line("", cat(lag, " and not ", usual, ", for fields that are final early go ahead of their slice"));
  if (problem_.elements > 0 && !one_process() && n_max_expected() > 1.01 * n_max())
    text += line("", cat(tenths(n_max_expected()), " if links are as much faster than a stage as expected"));
  text += rates_text();
  text += limit_text();
  text += workers_text();
  for (const std::string& warning : warnings_) text += line("warning", warning);
  return text;
}

}  // namespace dsea
