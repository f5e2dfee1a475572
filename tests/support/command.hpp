// Runs a command as a user would, and keeps what it prints.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace support {

/// A folder of its own that is gone with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dsea-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

struct Finished {
  int exit_code = -1;  ///< 128 + signal if it was killed; 124 if it ran past the limit
  std::string out, err;
  double seconds = 0;      ///< wall time
  double cpu_seconds = 0;  ///< of it and its children
};

/// By a shell, with a limit that only a hang reaches.
inline Finished run_command(const std::string& command, int limit_seconds = 60) {
  const TempFolder folder;
  rusage before{}, after{};
  getrusage(RUSAGE_CHILDREN, &before);
  const auto start = std::chrono::steady_clock::now();
  const std::string line = "timeout -k 2 " + std::to_string(limit_seconds) + " sh -c '" + command + "' >" +
                           (folder / "out") + " 2>" + (folder / "err") + " </dev/null";
  const int status = std::system(line.c_str());
  getrusage(RUSAGE_CHILDREN, &after);
  const auto cpu = [](const rusage& r) {
    return double(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + 1e-6 * double(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
  };
  Finished f;
  f.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  f.out = read_file(folder / "out");
  f.err = read_file(folder / "err");
  f.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  f.cpu_seconds = cpu(after) - cpu(before);
  return f;
}

/// The 16 hex digits a run ended with; empty if it did not.
inline std::string digest_of(const std::string& out) {
  const auto at = out.rfind("digest ");
  return at == std::string::npos ? "" : out.substr(at + 7, 16);
}

}  // namespace support
