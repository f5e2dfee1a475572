#include "dsea/app/start_table.hpp"

#include <algorithm>
#include <array>

#include "dsea/app/all_ranks.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/network_cards.hpp"
#include "dsea/base/numa.hpp"
#include "dsea/base/range_list.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/io/run_report.hpp"

namespace dsea {
namespace {

constexpr std::size_t columns = 9;
using Row = std::array<std::string, columns>;

Row row_of(const std::vector<RankFacts>& ranks, std::size_t rank) {
  const RankFacts& r = ranks[rank];
  const double to_next = ranks[(rank + 1) % ranks.size()].from_previous;  // the receiver has measured it
  return {cat(rank), r.host,      r.device,
          r.pci,     r.numa,      r.cores,
          r.cards,   r.transport, to_next > 0 ? si_text(to_next) + "B/s" : "-"};
}

std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, columns> width{};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < columns; ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) line += row[c] + std::string(width[c] - row[c].size() + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

RankFacts facts_of_this_rank(const Device& device, const std::vector<std::string>& rails, const std::string& transport,
                             double from_previous) {
  RankFacts f;
  const std::vector<int> cpus = available_cpus();
  f.host = host_name();
  f.device = device.is_cuda() ? cat("GPU ", device.index(), ", ", device.name()) : device.name();
  if (device.is_cuda()) {
    f.pci = device.pci_address();
    const auto node = numa_node_of_pci(f.pci);
    if (node) f.numa = cat(*node);
  } else {
    f.numa = range_list_text(numa_nodes_of_cpus(cpus));
  }
  f.cores = range_list_text(cpus);
  f.cards = network_cards_text(network_cards(rails));
  f.transport = transport;
  f.from_previous = from_previous;
  return f;
}

std::vector<RankFacts> facts_of_all(const MpiSession& session, const RankFacts& mine) {
  constexpr std::size_t texts = 8;
  std::vector<RankFacts> all;
  for (auto& t : texts_of_all(session, {mine.host, mine.device, mine.pci, mine.numa, mine.cores, mine.cards,
                                        mine.transport, cat(mine.from_previous)})) {
    if (t.size() != texts) throw UsageError("the ranks are of different versions of DSEA: start all with one program");
    all.push_back({t[0], t[1], t[2], t[3], t[4], t[5], t[6], std::stod(t[7])});
  }
  return all;
}

SlowestLink slowest_link(const std::vector<RankFacts>& ranks) {
  const auto slowest = std::min_element(ranks.begin(), ranks.end(), [](const RankFacts& a, const RankFacts& b) {
    return a.from_previous < b.from_previous;
  });
  const auto n = static_cast<std::ptrdiff_t>(ranks.size());
  return {static_cast<int>((slowest - ranks.begin() + n - 1) % n), slowest->from_previous};
}

std::string start_table(const std::vector<RankFacts>& ranks, std::size_t most) {
  constexpr std::size_t first = 16, most_others = 16;
  std::vector<Row> rows{{"rank", "host", "device", "pci", "numa", "cores", "network cards", "transport", "to next"}};
  const auto slowest = static_cast<std::size_t>(slowest_link(ranks).from);
  std::size_t others = 0, odd = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const bool differs = ranks[r].device != ranks[0].device || ranks[r].cards != ranks[0].cards;
    const bool shown = ranks.size() <= most || r < first || r == slowest || (differs && others < most_others);
    if (r >= first && differs) ++odd;
    if (!shown) continue;
    if (r >= first && differs) ++others;
    rows.push_back(row_of(ranks, r));
  }
  std::string text = aligned(rows);
  const std::size_t hidden = ranks.size() - (rows.size() - 1);
  if (hidden == 0) return text;
  return cat(text, "... ", hidden, " more, ",
             odd == others ? "all with rank 0's device and network cards"
                           : cat(odd - others, " of them with other devices or network cards than rank 0"),
             "\n");
}

std::string link_warning(const SlowestLink& link, const RingPlan& plan) {
  if (link.bytes_per_second <= 0 || plan.stage_work_seconds() <= 0) return {};
  const auto bytes = static_cast<double>(plan.wire_bytes());
  const double transfer = bytes / link.bytes_per_second;
  constexpr double not_worth_a_word = 100e-6;  // such stages are held up by much else
  if (transfer <= std::max(plan.stage_work_seconds(), not_worth_a_word)) return {};
  return cat("the slowest link may be the bottleneck: a slice of ", bytes_text(bytes), " takes ",
             seconds_text(transfer), " over it, and ", plan.request().workers,
             plan.request().workers == 1 ? " worker" : " workers", " of a rank an expected ",
             seconds_text(plan.stage_work_seconds()), ": more workers (ring.workers) or rails (ring.rails) would help");
}

void report_start(const Log& log, const std::string& out, const std::vector<RankFacts>& ranks, const RingPlan& plan) {
  constexpr std::size_t most = 32;
  const std::string table = start_table(ranks, most);
  log.info("ranks:\n", table.substr(0, table.size() - 1),
           ranks.size() > most ? cat("\nall of them: ", out, "/ranks.txt") : "");
  write_text_file(out + "/ranks.txt", start_table(ranks, ranks.size()));
  const SlowestLink link = slowest_link(ranks);
  if (link.bytes_per_second <= 0) return;
  const double planned = plan.request().bandwidth.value_or(RingPlan::assumed_bandwidth);
  log.info("slowest link: ", si_text(link.bytes_per_second), "B/s, from rank ", link.from, " to rank ",
           (link.from + 1) % static_cast<int>(ranks.size()), "; the plan ",
           plan.request().bandwidth ? "was given " : "assumes ", si_text(planned), "B/s");
  if (const std::string warning = link_warning(link, plan); !warning.empty()) log.warning(warning);
}

}  // namespace dsea
