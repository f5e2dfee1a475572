// The table of ranks that a run of several processes begins with.
#pragma once

#include <string>
#include <vector>

#include "dsea/base/log.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/device/device.hpp"
#include "dsea/ring/ring_plan.hpp"

namespace dsea {

/// One rank, in words for people.
struct RankFacts {
  std::string host;
  std::string device;        ///< "host, 2 threads, avx2"; "GPU 1, NVIDIA ..."
  std::string pci = "-";     ///< of the GPU
  std::string numa = "-";    ///< nodes: of the GPU, or of the processors
  std::string cores;         ///< processors the process may run on
  std::string cards;         ///< network devices
  std::string transport;     ///< to the next rank
  double from_previous = 0;  ///< bytes per second, measured; 0: not measured
};

/// Those of this process. `rails`: network devices that slices travel over.
RankFacts facts_of_this_rank(const Device& device, const std::vector<std::string>& rails, const std::string& transport,
                             double from_previous);

/// Those of every rank, on every rank. Collective.
std::vector<RankFacts> facts_of_all(const MpiSession& session, const RankFacts& mine);

/// The link with the least bandwidth: rank `from` to the next one.
struct SlowestLink {
  int from = 0;
  double bytes_per_second = 0;  ///< 0: not measured
};
SlowestLink slowest_link(const std::vector<RankFacts>& ranks);

/// A heading and a row a rank. Of more than `most` ranks only the first 16, those whose device or network cards are
/// others than rank 0's (16 at most) and the sending side of the slowest link, and a line that says how many are not
/// shown.
std::string start_table(const std::vector<RankFacts>& ranks, std::size_t most);

/// A warning if the slowest link takes longer for a slice than the workers are expected to; empty otherwise.
std::string link_warning(const SlowestLink& link, const RingPlan& plan);

/// Rank 0: logs the table, the slowest link and the warning, and writes the whole table to `out`/ranks.txt.
void report_start(const Log& log, const std::string& out, const std::vector<RankFacts>& ranks, const RingPlan& plan);

}  // namespace dsea
