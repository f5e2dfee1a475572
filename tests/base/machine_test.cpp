#include "dsea/base/machine.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/fake_system.hpp"
#include "dsea/base/threads.hpp"

namespace dsea {
namespace {

using test::FakeSystem;
using MachineMemory = FakeSystem;
using MachineCores = FakeSystem;
using MachineThreads = FakeSystem;

TEST_F(MachineMemory, IsUnknownWithoutFiles) { EXPECT_EQ(available_memory(root()), 0); }

TEST_F(MachineMemory, IsWhatTheSystemCallsAvailable) {
  write("/proc/meminfo", "MemTotal:       2000 kB\nMemFree:  10 kB\nMemAvailable:    1000 kB\n");
  EXPECT_EQ(available_memory(root()), 1000 * 1024);
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(available_memory(root()), 1000 * 1024);
}

TEST_F(MachineMemory, IsLimitedByGroupsOfVersion2) {
  write("/proc/meminfo", "MemAvailable:    1000 kB\n");
  write("/proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "600000\n");
  write("/sys/fs/cgroup/a/b/memory.current", "250000\n");
  EXPECT_EQ(available_memory(root()), 350000);
  write("/sys/fs/cgroup/a/b/memory.stat", "anon 5\ninactive_file 50000\n");
  EXPECT_EQ(available_memory(root()), 400000);
  write("/sys/fs/cgroup/a/memory.max", "300000\n");  // a group around it
  write("/sys/fs/cgroup/a/memory.current", "290000\n");
  EXPECT_EQ(available_memory(root()), 10000);
  write("/sys/fs/cgroup/memory.max", "1000\n");  // in a container the outermost is what counts
  write("/sys/fs/cgroup/memory.current", "2000\n");
  EXPECT_EQ(available_memory(root()), 0);
}

TEST_F(MachineMemory, IsLimitedByGroupsOfVersion1) {
  write("/proc/meminfo", "MemAvailable:    1000 kB\n");
  write("/proc/self/cgroup", "5:cpu,cpuacct:/c\n4:memory:/job\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available_memory(root()), 1000 * 1024);
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "500000\n");
  write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "200000\n");
  write("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 30000\n");
  EXPECT_EQ(available_memory(root()), 330000);
}

TEST_F(MachineThreads, AreLimitedByTheKernelAndByGroups) {
  const std::int64_t free = thread_limit(root()).threads;  // of what is not a file here
  const auto expect = [&](std::int64_t threads, const char* reason) {
    const ThreadLimit limit = thread_limit(root());
    EXPECT_EQ(limit.threads, threads);
    EXPECT_EQ(limit.reason, reason);
  };
  ASSERT_GT(free, 300);
  write("/proc/sys/kernel/threads-max", "300\n");
  expect(300, "kernel.threads-max");
  write("/proc/sys/kernel/pid_max", "200\n");
  expect(200, "kernel.pid_max");
  write("/proc/self/cgroup", "0::/a\n7:pids:/b\n");
  write("/sys/fs/cgroup/a/pids.max", "max\n");
  expect(200, "kernel.pid_max");
  write("/sys/fs/cgroup/a/pids.max", "190\n");
  write("/sys/fs/cgroup/a/pids.current", "40\n");
  expect(150, "pids.max of the control group");
  write("/sys/fs/cgroup/pids/b/pids.max", "100\n");
  expect(100, "pids.max of the control group");
}

TEST_F(MachineCores, AreLimitedByProcessorTime) {
  const int all = static_cast<int>(available_cpus().size());
  EXPECT_EQ(available_cores(root()), all);
  write("/proc/self/cgroup", "0::/\n5:cpu,cpuacct:/c\n");
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(available_cores(root()), all);
  write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(available_cores(root()), std::min(all, 2));
  write("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(available_cores(root()), std::min(all, 2));
  write("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(available_cores(root()), 1);
}

TEST_F(FakeSystem, NamesTheProcessor) {
  EXPECT_EQ(machine_info(root()).cpu, "unknown");
  write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n");
  EXPECT_EQ(machine_info(root()).cpu, "Some CPU @ 2 GHz");
}

TEST(Machine, ThisOneHasEverything) {
  const MachineInfo info = machine_info();
  EXPECT_FALSE(info.host.empty());
  EXPECT_FALSE(info.cpu.empty());
  EXPECT_FALSE(info.compiler.empty());
  EXPECT_GE(info.cores, 1);
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_EQ(std::set<std::string>({"baseline", "avx2", "avx512"}).count(info.isa), 1u);
}

}  // namespace
}  // namespace dsea
