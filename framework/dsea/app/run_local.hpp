// Runs a program in this process: all ranks are threads. For tests, tools and benches; programs use run_app().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dsea/base/config.hpp"
#include "dsea/device/device.hpp"
#include "dsea/ring/ring_report.hpp"
#include "dsea/ring/worker_program.hpp"

namespace dsea {

class Log;

/// One row of the table, with the sums it was made of.
struct TableRow {
  std::int64_t step = 0;
  std::vector<double> sums;     ///< by observable
  std::vector<double> columns;  ///< by Problem::columns
};

struct RunOutcome {
  RingOutcome ring;
  std::vector<TableRow> rows;
  std::uint64_t digest() const { return ring.digest; }
};

/// Makes a program; called once a rank.
using MakeProgram = std::function<std::unique_ptr<WorkerProgram>(const Config&)>;

/// The framework's keys are taken from the configuration too (run.steps, ring.workers, ...). Files are written only if
/// the configuration asks for snapshots. Throws UsageError, RunError. `log`: null for warnings and errors to stderr.
RunOutcome run_local(const MakeProgram& make, const Config& config, int ranks, const DeviceOptions& device = {},
                     const Log* log = nullptr);

/// The same for a user's class.
template <class Program>
RunOutcome run_local(const Config& config, int ranks = 1, const DeviceOptions& device = {}, const Log* log = nullptr) {
  return run_local([](const Config& c) { return std::make_unique<ProgramOf<Program>>(c); }, config, ranks, device, log);
}

}  // namespace dsea
