// Streams, events and memory behave as the CUDA runtime's do.
#include <atomic>
#include <cmath>
#include <future>
#include <stdexcept>
#include <thread>

#include "cuda_shim/harness.hpp"
#include "cuda_shim/kernels.hpp"

namespace shim::test {
namespace {

using Runtime = InOrder;

TEST_P(Runtime, NothingRunsBeforeSomebodyWaits) {
  const Numbers<double> x(32);
  const StreamHandle stream;
  std::vector<double> early(32), late(32);
  launch(1, 32, 0, stream, &fill, x.data(), 3.0);
  EXPECT_TRUE(std::isnan(x.read()[0])) << "device memory begins full of NaNs";
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(x.read()[31], 3.0);
}

TEST_P(Runtime, RunsOnlyAsFarAsTheMark) {
  const Numbers<double> x(32), y(32);
  const StreamHandle stream;
  const EventHandle between;
  launch(1, 32, 0, stream, &fill, x.data(), 1.0);
  ASSERT_EQ(cudaEventRecord(between, stream), cudaSuccess);
  launch(1, 32, 0, stream, &fill, y.data(), 2.0);
  ASSERT_EQ(cudaEventSynchronize(between), cudaSuccess);
  EXPECT_EQ(x.read()[0], 1.0);
  EXPECT_TRUE(std::isnan(y.read()[0]));
}

TEST_P(Runtime, WhoAsksAgainAndAgainSeesItDone) {
  const Numbers<double> x(32);
  const StreamHandle stream;
  const EventHandle filled;
  EXPECT_EQ(cudaEventQuery(filled), cudaSuccess) << "never recorded";
  launch(1, 32, 0, stream, &fill, x.data(), 1.0);
  ASSERT_EQ(cudaEventRecord(filled, stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(filled), cudaErrorNotReady);
  int questions = 1;
  while (cudaEventQuery(filled) == cudaErrorNotReady) ASSERT_LT(++questions, 10);
  EXPECT_EQ(x.read()[0], 1.0);
  cudaGetLastError();
}

TEST_P(Runtime, AnEventStandsForItsRecordWhenItIsWaitedFor) {
  const Numbers<double> x(32), y(32);
  const StreamHandle first, second;
  const EventHandle event;
  launch(1, 32, 0, first, &fill, x.data(), 1.0);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  launch(1, 32, 0, first, &fill, y.data(), 2.0);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(x.read()[0], 1.0);
  EXPECT_TRUE(std::isnan(y.read()[0]));
}

TEST_P(Runtime, HostFunctionsMayBlock) {
  std::promise<void> gate;
  std::future<void> opened = gate.get_future();
  const StreamHandle stream, other;
  const EventHandle passed;
  ASSERT_EQ(cudaLaunchHostFunc(
                stream, [](void* future) { static_cast<std::future<void>*>(future)->wait(); }, &opened),
            cudaSuccess);
  ASSERT_EQ(cudaEventRecord(passed, stream), cudaSuccess);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(cudaEventQuery(passed), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  const Numbers<double> x(32);
  launch(1, 32, 0, other, &fill, x.data(), 1.0);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess) << "goes on meanwhile";
  gate.set_value();
  EXPECT_EQ(cudaEventSynchronize(passed), cudaSuccess);
  cudaGetLastError();
}

TEST_P(Runtime, LongQueuesBeginByThemselves) {
  const Numbers<unsigned> counts(std::vector<unsigned>(3, 0));
  const Numbers<unsigned long long> least(std::vector<unsigned long long>(1, 0));
  const Numbers<int> greatest(std::vector<int>(1, 0));
  const StreamHandle stream;
  for (int k = 0; k < 1000; ++k) {
    launch(1, 1, 0, stream, &count_threads, counts.data(), least.data(), greatest.data());
  }
  EXPECT_GT(counts.read()[0], 0U);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(counts.read()[0], 1000U);
}

TEST_P(Runtime, SeveralThreadsAtOnce) {
  std::atomic<int> right = 0;
  std::vector<std::jthread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&right, k] {
      const Numbers<double> x(64), y(64);
      const StreamHandle first, second;
      const EventHandle event;
      for (int round = 0; round < 50; ++round) {
        launch(1, 64, 0, first, &fill, x.data(), 10.0 * k + round);
        cudaEventRecord(event, first);
        cudaStreamWaitEvent(second, event, 0);
        launch(1, 64, 0, second, &add, x.data(), y.data());
        cudaStreamSynchronize(second);
        std::vector<double> seen(64);
        cudaMemcpyAsync(seen.data(), y.data(), 64 * sizeof(double), cudaMemcpyDefault, second);
        cudaStreamSynchronize(second);
        right += seen == std::vector<double>(64, 10.0 * k + round + 1.0) ? 1 : 0;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(right, 200);
}

TEST_P(Runtime, EventsTellTheTime) {
  const StreamHandle stream;
  const EventHandle begin, end;
  ASSERT_EQ(cudaEventRecord(begin, stream), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(
                stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GE(milliseconds, 5.0F);
  EXPECT_LT(milliseconds, 5000.0F);
  cudaGetLastError();
}

TEST_P(Runtime, RefusesWhatCudaRefuses) {
  const StreamHandle stream;
  launch(1, 1025, 0, stream, &early_exit);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  launch(0, 32, 0, stream, &early_exit);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  launch(1, 32, 64 * 1024, stream, &early_exit);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, std::size_t{1} << 45), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  int number = 0;
  EXPECT_EQ(cudaFree(&number), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_P(Runtime, PointersAreKnown) {
  const Numbers<double> x(32);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, x.data() + 31), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  const Numbers<char> more(1 << 20);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before - after, std::size_t{1} << 20);
}

INSTANTIATE_TEST_SUITE_P(Orders, Runtime, testing::ValuesIn(all_orders), order_name);

TEST(OrderTest, Permutations) {
  for (const std::string& name : all_orders) {
    Order order(name);
    for (const std::uint64_t n : {1U, 2U, 3U, 31U, 32U, 96U, 1000U}) {
      Permutation permutation = order.permutation(n);
      std::vector<bool> seen(n);
      for (std::uint64_t k = 0; k < n; ++k) seen[permutation.next()] = true;
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(n)) << name;
    }
  }
  for (const char* wrong : {"", "backwards", "random", "random:", "random:x", "random:-1"}) {
    EXPECT_THROW(Order{wrong}, std::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace shim::test
