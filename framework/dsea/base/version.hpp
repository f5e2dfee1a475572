#pragma once

#include <string_view>

namespace dsea {

/// What this library was built from and how; every run writes it down. All texts live as long as the program.
struct BuildInfo {
  std::string_view version;     ///< "0.1.0"
  std::string_view git;         ///< `git describe` of the source tree when it was built, or "unknown"
  std::string_view build_type;  ///< "Release", ...
  std::string_view compiler;    ///< host compiler and its version
  bool mpi;                     ///< optional parts that were compiled in
  bool cuda;
  bool openmp;
};

/// Thread-safe; never fails.
const BuildInfo& build_info() noexcept;

}  // namespace dsea
