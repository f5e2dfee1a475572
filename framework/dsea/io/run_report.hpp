// What a run leaves for people and scripts: run.json, and the summary at the end of the output.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dsea {

/// Figures of a finished run. Rates count elements x full steps.
struct RunFigures {
  std::string program;
  std::string digest;
  std::int64_t step = 0;
  std::int64_t elements = 0;
  std::string element_name;
  double rate = 0;      ///< of the steady part; of the whole run if there is none
  bool steady = false;  ///< whether `rate` is of the steady part
  double wall_s = 0;
  double overhead = 0;           ///< share of the wall time not spent in kernels, 0..1
  double kernel_s = 0;           ///< mean of the ranks
  double bytes_per_element = 0;  ///< sent from rank to rank, per element and hop; 0 in a ring of one process
  int ranks = 1, workers = 1, slabs = 0, slices = 0;
  std::int64_t slices_received_least = 0;  ///< least of all ranks, through the network or from the loader
  std::int64_t slices_expected = 0;        ///< what every rank must have received
  std::string device, transport, isa;
  /// What each rail from rank 0 to rank 1 has carried, and why it was lost; empty without rails.
  struct Rail {
    std::string name;
    std::uint64_t bytes = 0;
    std::string lost;
  };
  std::vector<Rail> rails;
  int threads = 1;
  /// Where the time goes: nanoseconds an element and full step, all ranks together, by phase; the last two are the rest
  /// of the kernels' time and the time without kernels. Empty if the program names no phases.
  std::vector<std::pair<std::string, double>> phases;
};

/// "rail0 12.6 MiB, rail1 1.2 MiB (lost)"; empty without rails.
std::string rails_text(const std::vector<RunFigures::Rail>& rails);

/// Writes run.json (by a temporary file and a rename). Throws RunError.
void write_run_json(const std::string& path, const RunFigures& figures);

/// The last lines of every run, without the digest.
std::string summary_text(const RunFigures& figures);

/// Creates a folder with its parents; UsageError if it cannot be used.
void make_output_folder(const std::string& path);

/// Names of the files in a folder that look like snapshots, <name>.<step>.<extension>, sorted.
std::vector<std::string> snapshots_in(const std::string& folder);

/// Writes a text file by a temporary file and a rename, so that it is whole or not there. Throws RunError.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace dsea
