// What all processes of a run do together before the ring starts, so that an error is said once and ends all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dsea/comm/mpi_session.hpp"

namespace dsea {

/// Does something that may throw, on every rank. 0 if all are well; otherwise the exit code of the lowest rank that is
/// not, which prints why to stderr, behind `name`. Ranks that only missed others count last. Collective.
int on_all_ranks(const MpiSession& session, const std::string& name, const std::function<void()>& step);

/// Every rank's texts, by rank, on every rank. Collective; RanksMissing after ten minutes.
std::vector<std::vector<std::string>> texts_of_all(const MpiSession& session, const std::vector<std::string>& mine);

/// Something that must be the same on all ranks.
struct Trait {
  std::string what;   ///< "runs", "is the program"
  std::string value;  ///< may have several lines: then a difference is shown by the first line that differs
  std::string fix;    ///< what to do where it differs
};

/// What `ranks`, each a host and then the values of the same traits, differ in: a sentence that names the first trait
/// in which a rank differs from rank 0, that rank and both values; empty if there is none.
std::string difference_of_ranks(const std::vector<Trait>& traits, const std::vector<std::vector<std::string>>& ranks);

/// UsageError, on every rank and the same, if some trait is not the same on all. Collective; all ranks have as many.
void demand_same(const MpiSession& session, const std::vector<Trait>& mine);

}  // namespace dsea
