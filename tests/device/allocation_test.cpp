// After its construction a stream allocates nothing, whatever is put into it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "device/devices.hpp"
#include "dsea/device/event.hpp"
#include "dsea/device/for_each.hpp"
#include "dsea/device/for_each_row.hpp"
#include "dsea/device/for_each_team.hpp"
#include "dsea/device/reduce.hpp"
#include "dsea/device/scan.hpp"

namespace {

std::atomic<long> allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace dsea::test {
namespace {

struct Add {
  double* x;
  DSEA_FN void operator()(std::int64_t i) const { x[i] += 1.0; }
};

struct AddRow {
  double* x;
  DSEA_FN void operator()(std::int64_t row, std::int64_t column) const { x[100 * row + column] += 1.0; }
};

struct AddTeam {
  static constexpr int phases = 2;
  double* x;
  DSEA_FN void operator()(const Team& team, int phase, int lane) const {
    if (phase == 0) team.scratch<double>()[lane] = 1.0;
    if (phase == 1) x[team.index * team.size + lane] += team.scratch<double>()[lane];
  }
};

struct Read {
  const double* x;
  DSEA_FN double operator()(std::int64_t i) const { return x[i]; }
};

class AllocationTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, AllocationTest, testing::ValuesIn(host_devices()), case_name);

TEST_P(AllocationTest, NothingAfterTheStart) {
  const Device device = GetParam().open();
  constexpr std::int64_t n = 10000;
  const Buffer memory(device, n * sizeof(double), Memory::device), result(device, 8, Memory::device);
  const Buffer scratch(device, reduce_scratch_bytes(n), Memory::device);
  const Buffer counts(device, 101 * sizeof(std::int32_t), Memory::device);
  auto* const x = memory.as<double>();
  Stream stream(device, "test"), other(device, "other");
  Event event(device);
  const long before = allocations;
  for (int round = 0; round < 20; ++round) {
    for_each(stream, n, Add{x});
    for_each_row(stream, 100, 100, AddRow{x});
    for_each_team(stream, 100, 100, 100 * sizeof(double), AddTeam{x});
    reduce(stream, n, Read{x}, result.as<double>(), ReduceOp::sum, scratch.data());
    exclusive_scan(stream, counts.as<std::int32_t>(), counts.as<std::int32_t>(), 100, scratch.data());
    event.record(stream);
    other.wait(event);
    other.host_task([] {});
    event.done();
  }
  stream.synchronize();
  other.synchronize();
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(*result.as<double>(), 60.0 * n);
}

}  // namespace
}  // namespace dsea::test
