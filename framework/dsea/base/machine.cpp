#include "dsea/base/machine.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/base/version.hpp"

namespace dsea {

namespace {

/// The first number of a file such as memory.max; nothing if it is missing, "max" or not a number.
std::optional<std::int64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// The number behind a name in files such as /proc/meminfo ("MemAvailable:  100 kB") and memory.stat.
std::optional<std::int64_t> read_entry(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t value = 0;
    if (words >> word && word == name && words >> value) return value;
  }
  return std::nullopt;
}

/// Calls `visit` with the folder of this process's control group and of every one around it. `controller` is empty for
/// version 2. In a container the path in /proc may be the one outside of it; then only the folders that exist count.
void for_each_group(const std::string& root, const std::string& controller, const std::string& mount,
                    const std::function<void(const std::string& folder)>& visit) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/path", version 2: "0::/path"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool matches =
        controller.empty() ? controllers == ",," : controllers.find("," + controller + ",") != std::string::npos;
    if (!matches) continue;
    std::string path = line.substr(second + 1);
    while (!path.empty() && path.back() == '/') path.pop_back();
    for (;; path.erase(path.rfind('/'))) {
      visit(cat(root, mount, path));
      if (path.rfind('/') == std::string::npos) break;
    }
  }
}

std::string cpu_model(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string widest_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? "avx512" : avx2 ? "avx2" : "baseline";
#else
  return "baseline";
#endif
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::int64_t available_memory(const std::string& root) {
  constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = unknown;
  if (const auto kib = read_entry(root + "/proc/meminfo", "MemAvailable:")) least = *kib * 1024;

  const auto look = [&](const std::string& folder, const char* limit_file, const char* used_file, const char* cache) {
    const auto limit = read_number(folder + limit_file);
    if (!limit) return;
    const std::int64_t used = read_number(folder + used_file).value_or(0);
    const std::int64_t droppable = read_entry(folder + "/memory.stat", cache).value_or(0);
    least = std::min(least, std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, used - droppable)));
  };
  for_each_group(root, "", "/sys/fs/cgroup",
                 [&](const std::string& folder) { look(folder, "/memory.max", "/memory.current", "inactive_file"); });
  for_each_group(root, "memory", "/sys/fs/cgroup/memory", [&](const std::string& folder) {
    look(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");
  });
  return least == unknown ? 0 : least;
}

ThreadLimit thread_limit(const std::string& root) {
  ThreadLimit least;
  const auto limit = [&least](std::int64_t threads, const std::string& reason) {
    if (threads < least.threads) least = {threads, reason};
  };
  for (const char* name : {"threads-max", "pid_max"}) {
    if (const auto n = read_number(cat(root, "/proc/sys/kernel/", name))) limit(*n, cat("kernel.", name));
  }
  rlimit user{};
  if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &user) == 0 && user.rlim_cur != RLIM_INFINITY) {
    limit(static_cast<std::int64_t>(user.rlim_cur), "ulimit -u");
  }
  const auto look = [&](const std::string& folder) {
    const auto most = read_number(folder + "/pids.max");
    if (!most) return;
    const std::int64_t used = read_number(folder + "/pids.current").value_or(0);
    limit(std::max<std::int64_t>(0, *most - used), "pids.max of the control group");
  };
  for_each_group(root, "", "/sys/fs/cgroup", look);
  for_each_group(root, "pids", "/sys/fs/cgroup/pids", look);
  return least;
}

int available_cores(const std::string& root) {
  auto cores = static_cast<std::int64_t>(available_cpus().size());
  const auto limit = [&](std::int64_t quota, std::int64_t period) {
    if (quota > 0 && period > 0) cores = std::min(cores, (quota + period - 1) / period);
  };
  for_each_group(root, "", "/sys/fs/cgroup", [&](const std::string& folder) {
    std::ifstream file(folder + "/cpu.max");  // "150000 100000" or "max 100000"
    std::int64_t quota = 0, period = 0;
    if (file >> quota >> period) limit(quota, period);
  });
  for_each_group(root, "cpu", "/sys/fs/cgroup/cpu", [&](const std::string& folder) {
    limit(read_number(folder + "/cpu.cfs_quota_us").value_or(-1),
          read_number(folder + "/cpu.cfs_period_us").value_or(0));
  });
  return static_cast<int>(std::max<std::int64_t>(1, cores));
}

MachineInfo machine_info(const std::string& root) {
  MachineInfo info;
  info.host = host_name();
  info.cpu = cpu_model(root);
  info.isa = widest_isa();
  info.cores = available_cores(root);
  info.memory_bytes = available_memory(root);
  info.compiler = build_info().compiler;
  return info;
}

std::int64_t cache_bytes() {
  std::int64_t largest = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) {
    largest = std::max<std::int64_t>(largest, sysconf(level));
  }
#endif
  return largest;
}

}  // namespace dsea
