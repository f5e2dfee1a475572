// What is worth telling of a finished run.
#pragma once

#include <string>

#include "dsea/app/rank_run.hpp"
#include "dsea/io/run_report.hpp"

namespace dsea {

/// Rates, shares and counts of a run, by rank 0's outcome, which has the reports of all ranks.
RunFigures figures_of(const std::string& program, const RankRun& rank, const RingOutcome& outcome,
                      const std::string& transport);

}  // namespace dsea
