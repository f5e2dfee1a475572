// The configuration of what a run leaves in its folder.
#pragma once

#include <cstdint>
#include <string>

#include "dsea/base/config.hpp"
#include "dsea/io/snapshot.hpp"

namespace dsea::md {

/// The sections [output] and [profile].
struct OutputSettings {
  std::int64_t steps = 0;   ///< of the run
  SnapshotSteps when;       ///< dumps, profiles; the last step if a data file is written
  bool dump_forces = true;  ///< columns fx fy fz in dumps
  std::size_t axis = 0;     ///< user's axis that profiles lie along
  int bins = 100;           ///< of profiles
  std::string write_data;   ///< name of the data file of the last step; empty: none

  OutputSettings() = default;
  /// Throws UsageError, with file and line.
  explicit OutputSettings(const Config& config);
};

}  // namespace dsea::md
