#include "dsea/io/run_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/version.hpp"

namespace dsea {

void make_output_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw UsageError(cat("cannot create the output folder ", path, ": ", error.message(), ": choose another by --out"));
  if (access(path.c_str(), W_OK | X_OK) != 0) {
    throw UsageError(
        cat("cannot write into the output folder ", path, ": ", std::strerror(errno), ": choose another by --out"));
  }
}

std::vector<std::string> snapshots_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;  // a folder that cannot be read has nothing to tell
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path name = entry.path().filename();
    const std::string step = name.stem().extension().string();  // ".100" of dump.100.lammpstrj
    const bool is_number = step.size() > 1 && step.find_first_not_of("0123456789", 1) == std::string::npos;
    if (is_number && name.has_extension() && entry.is_regular_file(error)) names.push_back(name.string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void write_text_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  {
    std::ofstream file(temporary, std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      const std::string why = std::strerror(errno);
      std::remove(temporary.c_str());
      throw RunError(cat("cannot write ", path, ": ", why, ": is the disk full?"));
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw RunError(cat("cannot rename ", temporary, " to ", path, ": ", std::strerror(errno)));
  }
}

void write_run_json(const std::string& path, const RunFigures& f) {
  const MachineInfo machine = machine_info();
  const BuildInfo& build = build_info();
  nlohmann::ordered_json j;
  j["program"] = f.program;
  j["digest"] = f.digest;
  j["step"] = f.step;
  j["elements"] = f.elements;
  j["element_name"] = f.element_name;
  j["rate"] = f.rate;
  j["rate_is_of_the_steady_part"] = f.steady;
  j["wall_s"] = f.wall_s;
  j["kernel_s"] = f.kernel_s;
  j["overhead"] = f.overhead;
  j["bytes_per_element"] = f.bytes_per_element;
  j["ranks"] = f.ranks;
  j["workers"] = f.workers;
  j["threads"] = f.threads;
  j["slabs"] = f.slabs;
  j["slices"] = f.slices;
  j["slices_received_least"] = f.slices_received_least;
  j["slices_expected"] = f.slices_expected;
  if (!f.phases.empty()) {
    auto& phases = j["ns_per_element_and_step"] = nlohmann::ordered_json::object();
    for (const auto& [name, ns] : f.phases) phases[name] = ns;
  }
  j["device"] = f.device;
  j["transport"] = f.transport;
  j["isa"] = f.isa;
  if (!f.rails.empty()) {
    auto& rails = j["rails_of_rank_0"] = nlohmann::ordered_json::array();
    for (const RunFigures::Rail& rail : f.rails) {
      rails.push_back({{"name", rail.name}, {"bytes", rail.bytes}, {"lost", rail.lost}});
    }
  }
  j["host"] = machine.host;
  j["cpu"] = machine.cpu;
  j["cores"] = machine.cores;
  j["version"] = build.version;
  j["git"] = build.git;
  j["build_type"] = build.build_type;
  j["compiler"] = build.compiler;
  write_text_file(path, j.dump(2) + "\n");
}

std::string rails_text(const std::vector<RunFigures::Rail>& rails) {
  return joined(rails, ", ", [](const RunFigures::Rail& rail) {
    return cat(rail.name, " ", bytes_text(static_cast<double>(rail.bytes)), rail.lost.empty() ? "" : " (lost)");
  });
}

std::string summary_text(const RunFigures& f) {
  std::string text = cat("\n", f.elements, " ", f.element_name, ", ", f.step, " steps in ", seconds_text(f.wall_s),
                         " with ", f.ranks, f.ranks == 1 ? " rank x " : " ranks x ", f.workers,
                         f.workers == 1 ? " worker" : " workers", " (", f.slices, " slices)\n");
  text += cat(f.steady ? "steady part: " : "whole run (too few super-cycles for a steady part): ", si_text(f.rate), " ",
              f.element_name, " x steps/s\n");
  char line[200];
  std::snprintf(line, sizeof line, "kernels %.1f %% of the wall time, the rest (loading, filling, waiting) %.1f %%\n",
                100 * (1 - f.overhead), 100 * f.overhead);
  text += line;
  if (!f.rails.empty()) text += cat("rails from rank 0 to rank 1: ", rails_text(f.rails), "\n");
  for (std::size_t i = 0; i < f.phases.size(); ++i) {
    std::snprintf(line, sizeof line, "%s%s %.1f", i == 0 ? "ns an element and step: " : ", ", f.phases[i].first.c_str(),
                  f.phases[i].second);
    text += line;
  }
  if (!f.phases.empty()) text += "\n";
  if (f.bytes_per_element > 0) {
    std::snprintf(line, sizeof line, "%.1f bytes per element travel from rank to rank\n", f.bytes_per_element);
    text += line;
  }
  return text;
}

}  // namespace dsea
