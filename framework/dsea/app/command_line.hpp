// The command line of every DSEA program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsea/base/log.hpp"
#include "dsea/device/isa.hpp"

namespace dsea {

struct CommandLine {
  std::string config;             ///< path of the .toml file
  std::vector<std::string> sets;  ///< key=value
  std::string device = "auto";
  std::string transport = "auto";
  int ranks = 0;    ///< ranks in this process; 0: not given
  int threads = 0;  ///< OpenMP threads of a rank; 0: share the cores
  std::optional<Isa> isa;
  std::optional<std::string> out;
  bool plan = false;
  LogLevel log = LogLevel::info;

  /// Nothing if the program is done already (--help, --version; the text has been printed). Throws UsageError.
  static std::optional<CommandLine> parse(const std::string& name, int argc, char** argv);
};

}  // namespace dsea
