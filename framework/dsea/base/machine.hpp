// What the plan and run.json say about the machine.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace dsea {

struct MachineInfo {
  std::string host;               ///< host name
  std::string cpu;                ///< processor model, "unknown" where the system does not say
  std::string isa;                ///< widest instruction set of "baseline", "avx2" and "avx512" that can be used here
  int cores = 1;                  ///< processors this process may use, at least 1
  std::int64_t memory_bytes = 0;  ///< host memory still available to this process
  std::string compiler;           ///< host compiler of this library
};

/// Thread safe; reads the system at every call. `root` is put in front of the paths of /proc and /sys (for tests).
MachineInfo machine_info(const std::string& root = "");

/// This machine's name, "unknown" where the system does not say.
std::string host_name();

/// Bytes of host memory that this process can still use: the least of what the system calls available and what is left
/// below the limits of the process's control groups (version 1 and 2) and of those around them; file cache that can be
/// dropped counts as left. 0 if the system says nothing.
std::int64_t available_memory(const std::string& root = "");

/// How many threads this process may have by what the system says, and what says so: "kernel.threads-max".
struct ThreadLimit {
  std::int64_t threads = std::numeric_limits<std::int64_t>::max();
  std::string reason;
};

/// The least of the kernel's limits, the user's (ulimit -u) and what the control groups leave.
ThreadLimit thread_limit(const std::string& root = "");

/// Processors this process may keep busy: those it may run on, or fewer where a control group limits the processor
/// time.
int available_cores(const std::string& root = "");

/// Bytes of the last-level cache of a processor; 0 if the system does not say.
std::int64_t cache_bytes();

}  // namespace dsea
