#include "dsea/app/command_line.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <limits>

#include "dsea/base/error.hpp"
#include "dsea/base/version.hpp"

namespace dsea {
namespace {

/// Throws UsageError for words of the command line that belong to no option, beside the configuration file.
void check_loose_words(const std::string& name, const std::string& config, const std::vector<std::string>& others) {
  for (const std::string& word : others) {
    if (word.starts_with("-")) throw UsageError(cat("there is no option ", word, ": see ", name, " --help"));
  }
  std::vector<std::string> words = others;
  if (!std::filesystem::exists(config)) words.push_back(config);
  for (const std::string& word : words) {
    if (word.find('=') != std::string::npos) {
      throw UsageError(cat("'", word, "' stands alone: each --set takes one key=value, so write --set ", word));
    }
  }
  if (!others.empty()) {
    throw UsageError(cat("one argument too many: '", others[0], "': see ", name, " --help"));
  }
}

}  // namespace

std::optional<CommandLine> CommandLine::parse(const std::string& name, int argc, char** argv) {
  CommandLine c;
  CLI::App app{name + ": a DSEA program. Slices of a data set stream through a ring of workers."};
  std::string isa, log = "info", out, restart;
  const BuildInfo& build = build_info();
  app.set_version_flag(
      "--version", cat(name, " (DSEA ", build.version, ", ", build.git, ", ", build.compiler, build.mpi ? ", mpi" : "",
                       build.cuda ? ", cuda" : "", build.openmp ? ", openmp" : "", ")"));
  app.add_option("config", c.config, "the run's configuration, a .toml file")->required();
  app.add_option("--set", c.sets, "key=value: overrides a key of the configuration; repeat --set for more")
      ->allow_extra_args(false);
  app.add_option("--device", c.device, "auto, host or cuda");
  app.add_option("--transport", c.transport,
                 "auto, local, mpi, ucx or nccl; auto: local, and when launched as several processes the faster of "
                 "mpi and ucx (over ring.rails, if set), by a measurement");
  app.add_option("--ranks", c.ranks, "ranks as threads of this process (transport local)")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  app.add_option("--threads", c.threads, "host threads of each rank's kernels")->check(CLI::Range(1, 4096));
  app.add_option("--isa", isa, "baseline, avx2 or avx512: at most this instruction set on the host");
  app.add_flag("--plan", c.plan, "print slots, bytes, N_max and expected times, and stop");
  auto* out_option = app.add_option("--out", out, "folder of all output (instead of [run] out)");
  auto* restart_option = app.add_option("--restart", restart, "latest, or the path of a checkpoint");
  app.add_option("--log", log, "error, warning, info or debug");
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    throw UsageError(cat(e.what(), ": see ", name, " --help"));
  }
  check_loose_words(name, c.config, app.remaining());
  if (restart_option->count() > 0) throw UsageError("--restart: checkpoints are not available in this version");
  if (out_option->count() > 0) {
    if (out.empty()) throw UsageError("--out is empty: name a folder");
    c.out = out;
  }
  if (!isa.empty()) {
    c.isa = isa_from_name(isa);
    if (!c.isa) throw UsageError(cat("--isa ", isa, " is unknown: use baseline, avx2 or avx512"));
  }
  c.log = Log::level_from_text(log);
  if (c.transport != "auto" && c.transport != "local" && c.transport != "mpi" && c.transport != "ucx" &&
      c.transport != "nccl") {
    throw UsageError(cat("--transport ", c.transport, " is unknown: use auto, local, mpi, ucx or nccl"));
  }
  return c;
}

}  // namespace dsea
