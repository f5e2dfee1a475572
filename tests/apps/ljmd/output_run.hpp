// Runs of ljmd in this process that leave files in a folder of their own. For tests of these files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dsea/dsea.hpp"
#include "kernels/md/md.hpp"
#include "kernels/md/reference_dump.hpp"

namespace dsea::md::test {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class OutputRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("dsea_ljmd_output_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs with the output in folder / name, which is made anew.
  RunOutcome run(const std::string& name, const std::string& toml, int ranks = 1, int workers = 1,
                 DeviceOptions device = {.backend = "host"}) const {
    std::filesystem::remove_all(folder_ / name);
    std::filesystem::create_directories(folder_ / name);
    const std::vector<std::string> sets{"run.out=" + (folder_ / name).string(),
                                        "ring.workers=" + std::to_string(workers)};
    return run_local<Md>(Config::from_text(toml, "run.toml", sets), ranks, device);
  }

  std::string text(const std::string& name) const { return text_of(folder_ / name); }
  ReferenceDump dump(const std::string& name) const { return ReferenceDump((folder_ / name).string()); }
  std::vector<std::string> files(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::filesystem::path folder_;
};

/// Two types of molecules in 4 slabs, not at rest. Needs [run] steps.
inline const std::string mixture =
    "[system]\nlattice = \"fcc\"\ncells = [8, 5, 5]\ndensity = 0.7\ntemperature = 2.0\nmass = [1.0, 2.0]\n"
    "fractions = [0.6, 0.4]\n[time]\ndt = 0.004\n[neighbour]\nevery = 8\n";

}  // namespace dsea::md::test
