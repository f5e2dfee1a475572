// The main function of every DSEA program.
#pragma once

#include <memory>
#include <string>

#include "dsea/app/run_local.hpp"

namespace dsea {

/// Everything but the program itself; see run_app().
int app_main(const std::string& name, int argc, char** argv, const MakeProgram& make);

/// Reads the command line and the configuration, plans, runs, reports, and returns the exit code (base/error.hpp):
///
///   name run.toml [--set key=value]... [--out DIR] [--plan] [--log LEVEL] [--ranks N] [--threads N] [--isa LEVEL]
///                 [--device auto|host|cuda] [--transport auto|local|mpi|ucx|nccl]
///
/// `Program` is a user's class as described in ring/program.hpp:
///   int main(int argc, char** argv) { return dsea::run_app<Heat>("heat", argc, argv); }
template <class Program>
int run_app(const std::string& name, int argc, char** argv) {
  return app_main(name, argc, argv, [](const Config& config) { return std::make_unique<ProgramOf<Program>>(config); });
}

}  // namespace dsea
