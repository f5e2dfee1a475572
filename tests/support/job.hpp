// A job of several MPI processes that a test meddles with while it runs.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/command.hpp"

namespace support {

class Job {
 public:
  /// Starts the launcher by a shell. It and all that it started are killed with the object.
  explicit Job(const std::string& command) {
    launcher_ = fork();
    if (launcher_ != 0) return;
    const int out = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);
    const int err = ::open((folder_ / "err").c_str(), O_WRONLY | O_CREAT, 0600);
    const int in = ::open("/dev/null", O_RDONLY);
    dup2(out, STDOUT_FILENO), dup2(err, STDERR_FILENO), dup2(in, STDIN_FILENO);
    const std::string line = "exec " + command;
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() {
    for (const pid_t pid : ranks_) {
      if (!gone(pid)) ::kill(pid, SIGKILL);
    }
    if (!ended_) ::kill(launcher_, SIGKILL), waitpid(launcher_, nullptr, 0);
  }

  std::string out() const { return read_file(folder_ / "out"); }
  std::string err() const { return read_file(folder_ / "err"); }

  /// Waits until the state is reached; false if it is not in time.
  template <class State>
  static bool wait_until(State state, int limit_seconds = 60) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit_seconds);
    while (!state()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  /// The processes by rank, all of this machine; to be called when they run.
  const std::vector<pid_t>& ranks(int count) {
    ranks_.assign(static_cast<std::size_t>(count), -1);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
      if (field_after_name(name, 1) != std::to_string(launcher_)) continue;
      const std::string environment = read_file("/proc/" + name + "/environ");
      const std::string key = "OMPI_COMM_WORLD_RANK=";
      const auto at = environment.find(key);
      if (at == std::string::npos) continue;
      const auto rank = static_cast<std::size_t>(std::stoi(environment.substr(at + key.size())));
      if (rank < ranks_.size()) ranks_[rank] = std::stoi(name);
    }
    return ranks_;
  }

  /// The launcher's exit code; 124 if it still runs at the limit.
  int wait(int limit_seconds = 60) {
    int status = 0;
    ended_ = wait_until([&] { return waitpid(launcher_, &status, WNOHANG) == launcher_; }, limit_seconds);
    if (!ended_) return 124;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// No process of the job is left, or soon so: the launcher may end a moment before its children.
  bool all_gone() const {
    return wait_until([this] { return std::all_of(ranks_.begin(), ranks_.end(), gone); }, 10);
  }

 private:
  /// A word of /proc/PID/stat; 0 is the one behind the name, the state.
  static std::string field_after_name(const std::string& pid, int index) {
    const std::string stat = read_file("/proc/" + pid + "/stat");
    const auto end = stat.rfind(')');
    if (end == std::string::npos) return {};
    std::istringstream words(stat.substr(end + 1));
    std::string word;
    for (int i = 0; i <= index; ++i) words >> word;
    return word;
  }
  static bool gone(pid_t pid) {
    const std::string state = field_after_name(std::to_string(pid), 0);
    return state.empty() || state == "Z" || state == "X";
  }

  TempFolder folder_;
  pid_t launcher_ = -1;
  bool ended_ = false;
  std::vector<pid_t> ranks_;
};

}  // namespace support
