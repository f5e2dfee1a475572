#include "dsea/app/run_traits.hpp"

#include "dsea/base/text.hpp"
#include "dsea/base/version.hpp"
#include "dsea/slice/digest.hpp"

namespace dsea {
namespace {

/// It does not matter who has written a value.
std::string without_marks(std::string text) {
  constexpr std::string_view mark = "  # default";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) text.erase(at, mark.size());
  return text;
}

}  // namespace

std::vector<Trait> traits_of_process(const std::string& name, const CommandLine& line, const Config& config) {
  const BuildInfo& build = build_info();
  const std::string options = "start all ranks with the same options";
  return {{"is the program", name, "start all ranks with the same program"},
          {"runs", cat("DSEA ", build.version, " (", build.git, ")"), "use one build on all nodes"},
          {"was started with", "--transport " + line.transport, options},
          {"was started", line.plan ? "with --plan" : "without --plan", options},
          {"has the configuration", without_marks(config.effective_toml()),
           "start all ranks with the same .toml (on every node) and the same --set"}};
}

void add_traits_of_plan(std::vector<Trait>& traits, const Problem& problem, const PlanRequest& plan) {
  const std::string fix = "give all ranks the same input files, on every node";
  traits.push_back({"has slices with the layout", digest_text(problem.layout.hash()), fix});
  traits.push_back({"has", cat(problem.slabs, " slabs"), fix});
  traits.push_back({"has", cat(problem.elements, " ", problem.element_name), fix});
  traits.push_back({"plans",
                    cat(plan.workers, plan.workers == 1 ? " worker" : " workers", " a rank, depth ", plan.depth),
                    "ranks on other machines or devices choose differently: set ring.workers and ring.depth"});
}

}  // namespace dsea
