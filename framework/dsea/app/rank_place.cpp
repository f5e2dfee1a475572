#include "dsea/app/rank_place.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "dsea/app/all_ranks.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/range_list.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/device/device.hpp"

namespace dsea {
namespace {

bool all_see_the_same(const std::vector<RankPlace>& ranks, const RankPlace& mine) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const RankPlace& other) { return other.host != mine.host || other.gpus == mine.gpus; });
}

}  // namespace

RankPlace place_of_this_rank(const MpiSession& session, const std::string& backend) {
  return {host_name(), session.local_rank(), available_cpus(), Device::visible_gpus(backend)};
}

std::vector<RankPlace> places_of_all(const MpiSession& session, const RankPlace& mine) {
  std::vector<std::string> texts{mine.host, cat(mine.local_rank), range_list_text(mine.cpus)};
  texts.insert(texts.end(), mine.gpus.begin(), mine.gpus.end());
  std::vector<RankPlace> places;
  for (const auto& t : texts_of_all(session, texts)) {
    if (t.size() < 3) throw UsageError("the ranks are of different versions of DSEA: start all with one program");
    places.push_back({t[0], std::stoi(t[1]), parse_range_list(t[2]), {t.begin() + 3, t.end()}});
  }
  return places;
}

int ranks_on_processors(const std::vector<RankPlace>& ranks, int rank) {
  const RankPlace& mine = ranks[static_cast<std::size_t>(rank)];
  const auto meets = [&](const RankPlace& other) {
    return other.host == mine.host && std::find_first_of(other.cpus.begin(), other.cpus.end(), mine.cpus.begin(),
                                                         mine.cpus.end()) != other.cpus.end();
  };
  return std::max(1, static_cast<int>(std::count_if(ranks.begin(), ranks.end(), meets)));
}

int gpu_of_rank(const std::vector<RankPlace>& ranks, int rank) {
  const RankPlace& mine = ranks[static_cast<std::size_t>(rank)];
  if (mine.gpus.size() < 2) return 0;
  return all_see_the_same(ranks, mine) ? mine.local_rank % static_cast<int>(mine.gpus.size()) : 0;
}

SharedGpu shared_gpu(const std::vector<RankPlace>& ranks) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> takers;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].gpus.empty()) continue;
    const auto gpu = static_cast<std::size_t>(gpu_of_rank(ranks, static_cast<int>(r)));
    takers[{ranks[r].host, ranks[r].gpus[gpu]}].push_back(r);
  }
  for (const auto& [gpu, who] : takers) {
    if (who.size() < 2) continue;
    std::string list;
    for (std::size_t k = 0; k < who.size(); ++k) {
      list += cat(k == 0 ? "" : k + 1 < who.size() ? ", " : " and ", who[k]);
    }
    const std::size_t seen = ranks[who.front()].gpus.size();
    return {cat("ranks ", list, " take the same GPU, ", gpu.second, " of ", gpu.first, " (rank ", who.front(), " sees ",
                seen, seen == 1 ? " GPU)" : " GPUs)"),
            "give each rank a GPU of its own, by srun --gpus-per-task=1, by a binding script that sets "
            "CUDA_VISIBLE_DEVICES for each rank, or by no more ranks a node than it has GPUs; "
            "--set ring.share_gpu=true lets them share it"};
  }
  return {};
}

std::string gpu_rule(const std::vector<RankPlace>& ranks) {
  const auto several = std::find_if(ranks.begin(), ranks.end(), [](const RankPlace& r) { return r.gpus.size() > 1; });
  if (several == ranks.end()) return {};
  const bool alike =
      std::all_of(ranks.begin(), ranks.end(), [&](const RankPlace& r) { return all_see_the_same(ranks, r); });
  return alike ? cat("ranks of one node see all its GPUs (", several->gpus.size(), " on ", several->host,
                     "): each takes that of its place among the ranks of the node, modulo their number")
               : "ranks of one node see different GPUs, or in another order: each takes the first it sees";
}

}  // namespace dsea
