// Where the ranks of a run are, and what follows for each: which GPU it takes, how many share its processors.
#pragma once

#include <string>
#include <vector>

#include "dsea/base/log.hpp"
#include "dsea/comm/mpi_session.hpp"

namespace dsea {

struct RankPlace {
  std::string host;
  int local_rank = 0;             ///< among the ranks of this host
  std::vector<int> cpus;          ///< processors it may run on
  std::vector<std::string> gpus;  ///< PCI addresses of the GPUs it sees, by index; none where it runs on the host
};

/// That of this process among `session`'s. `backend`: "auto", "host" or "cuda". RunError if the system does not say.
RankPlace place_of_this_rank(const MpiSession& session, const std::string& backend);

/// Those of all ranks, by rank, on every rank. Collective.
std::vector<RankPlace> places_of_all(const MpiSession& session, const RankPlace& mine);

/// How many ranks, itself counted, may run on some of the processors of `rank`.
int ranks_on_processors(const std::vector<RankPlace>& ranks, int rank);

/// The GPU of a rank, by index. Where all ranks of its host see the same GPUs, that of the local rank, modulo their
/// number; otherwise a batch system or a script has given each rank its own, the first it sees.
int gpu_of_rank(const std::vector<RankPlace>& ranks, int rank);

/// Which ranks take one GPU, and what to do; `who` is empty if none do.
struct SharedGpu {
  std::string who, fix;
};
SharedGpu shared_gpu(const std::vector<RankPlace>& ranks);

/// How GPUs are dealt out, in words for the log; empty if nobody sees more than one.
std::string gpu_rule(const std::vector<RankPlace>& ranks);

}  // namespace dsea
