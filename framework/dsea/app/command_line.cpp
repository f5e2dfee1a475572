#include "dsea/app/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

#include "dsea/base/error.hpp"
#include "dsea/base/version.hpp"

namespace dsea {

std::optional<CommandLine> CommandLine::parse(const std::string& name, int argc, char** argv) {
  CommandLine c;
  CLI::App app{name + ": a DSEA program. Slices of a data set stream through a ring of workers."};
  std::string isa, log = "info", out, restart;
  const BuildInfo& build = build_info();
  app.set_version_flag(
      "--version", cat(name, " (DSEA ", build.version, ", ", build.git, ", ", build.compiler, build.mpi ? ", mpi" : "",
                       build.cuda ? ", cuda" : "", build.openmp ? ", openmp" : "", ")"));
  app.add_option("config", c.config, "the run's configuration, a .toml file")->required();
  app.add_option("--set", c.sets, "key=value: overrides a key of the configuration, may be repeated")
      ->allow_extra_args(false);
  app.add_option("--device", c.device, "auto, host or cuda");
  app.add_option("--transport", c.transport, "auto, local, mpi, ucx or nccl");
  app.add_option("--ranks", c.ranks, "ranks as threads of this process (transport local)")->check(CLI::Range(1, 4096));
  app.add_option("--threads", c.threads, "host threads of each rank's kernels")->check(CLI::Range(1, 4096));
  app.add_option("--isa", isa, "baseline, avx2 or avx512: at most this instruction set on the host");
  app.add_flag("--plan", c.plan, "print slots, bytes, N_max and expected times, and stop");
  auto* out_option = app.add_option("--out", out, "folder of all output (instead of [run] out)");
  auto* restart_option = app.add_option("--restart", restart, "latest, or the path of a checkpoint");
  app.add_option("--log", log, "error, warning, info or debug");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    throw UsageError(cat(e.what(), ": see ", name, " --help"));
  }
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
  for (const char* unavailable : {"ucx", "nccl"}) {
    if (c.transport == unavailable)
      throw UsageError(cat("--transport ", unavailable, " is not available in this version: use auto, local or mpi"));
  }
  if (c.transport != "auto" && c.transport != "local" && c.transport != "mpi") {
    throw UsageError(cat("--transport ", c.transport, " is unknown: use auto, local or mpi"));
  }
  return c;
}

}  // namespace dsea
