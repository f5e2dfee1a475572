#include "dsea/base/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {

namespace {

/// A cpu_set_t for any number of processors; the fixed one ends at 1024.
class CpuSet {
 public:
  explicit CpuSet(int cpus)
      : cpus_(cpus), bytes_(CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus))), set_(CPU_ALLOC(cpus)) {
    if (set_ == nullptr) throw RunError("out of memory for a set of processors");
    CPU_ZERO_S(bytes_, set_.get());
  }
  int cpus() const { return cpus_; }
  std::size_t bytes() const { return bytes_; }
  cpu_set_t* get() { return set_.get(); }
  void add(int cpu) { CPU_SET_S(static_cast<std::size_t>(cpu), bytes_, set_.get()); }
  bool has(int cpu) const { return CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes_, set_.get()) != 0; }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  int cpus_;
  std::size_t bytes_;
  std::unique_ptr<cpu_set_t, Free> set_;
};

constexpr int most_cpus = 1 << 16;

double clock_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void name_this_thread(std::string_view name) {
  // A name is a convenience: failing to set it is no error.
  pthread_setname_np(pthread_self(), std::string(name.substr(0, 15)).c_str());
}

void pin_this_thread(std::span<const int> cpus) {
  const auto fail = [&](std::string_view reason) {
    throw RunError(cat("cannot pin a thread to processors [", joined(cpus, ", "), "]: ", reason));
  };
  if (cpus.empty()) fail("the list is empty");
  const auto [least, largest] = std::ranges::minmax(cpus);
  if (least < 0 || largest >= most_cpus) fail("there are no such processors");
  CpuSet set(largest + 1);
  for (const int cpu : cpus) set.add(cpu);
  if (const int error = pthread_setaffinity_np(pthread_self(), set.bytes(), set.get()); error != 0) {
    fail(error == EINVAL ? "this process may use none of them" : std::strerror(error));
  }
}

std::vector<int> available_cpus() {
  for (int cpus = 1024; cpus <= most_cpus; cpus *= 2) {
    CpuSet set(cpus);
    if (sched_getaffinity(0, set.bytes(), set.get()) == 0) {
      std::vector<int> result;
      for (int cpu = 0; cpu < set.cpus(); ++cpu) {
        if (set.has(cpu)) result.push_back(cpu);
      }
      return result;
    }
    if (errno != EINVAL) break;  // EINVAL: the kernel knows more processors than the set has room for
  }
  throw RunError(cat("cannot read which processors this thread may use: ", std::strerror(errno)));
}

void block_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&set, own);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

double thread_cpu_seconds() { return clock_seconds(CLOCK_THREAD_CPUTIME_ID); }

double process_cpu_seconds() { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace dsea
