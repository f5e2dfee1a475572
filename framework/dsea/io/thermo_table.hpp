// The table of observables: on the screen while the program runs, and in thermo.csv.
#pragma once

#include <cstdint>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

namespace dsea {

/// One line a step: "Step" and the program's columns. The file has 17 digits, so that numbers survive; the screen
/// fewer. Used by one thread.
class ThermoTable {
 public:
  /// Creates (overwrites) `path`. Throws UsageError if that fails.
  ThermoTable(std::ostream& screen, const std::string& path, std::vector<std::string> columns);

  /// Throws RunError if the file cannot be written (disk full).
  void row(std::int64_t step, const std::vector<double>& values);

 private:
  std::ostream& screen_;
  std::string path_;
  std::vector<std::string> columns_;
  std::ofstream file_;
};

}  // namespace dsea
