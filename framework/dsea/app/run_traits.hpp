// What must be the same on all ranks of a run; otherwise they would compute nonsense together.
#pragma once

#include <string>
#include <vector>

#include "dsea/app/all_ranks.hpp"
#include "dsea/app/command_line.hpp"
#include "dsea/base/config.hpp"
#include "dsea/ring/ring_plan.hpp"

namespace dsea {

/// Program, version, command line, and as much of the configuration as has been asked for.
std::vector<Trait> traits_of_process(const std::string& name, const CommandLine& line, const Config& config);

/// What the program has made of its input, which may be files of the node, and what was chosen by the machine.
void add_traits_of_plan(std::vector<Trait>& traits, const Problem& problem, const PlanRequest& plan);

}  // namespace dsea
