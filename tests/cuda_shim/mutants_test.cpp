// Mistakes made on purpose: each must be noticed.
#include "cuda_shim/harness.hpp"
#include "cuda_shim/kernels.hpp"

namespace shim::test {
namespace {

using Mutants = InOrder;

/// What the device reports after this launch; it works again afterwards.
template <class... Parameters, class... Args>
std::string fault_of(unsigned grid, unsigned block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                     const Args&... args) {
  launch(grid, block, shared_bytes, nullptr, kernel, args...);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const cudaError_t error = cudaStreamSynchronize(nullptr);
  EXPECT_NE(error, cudaSuccess);
  const std::string text = cudaGetErrorString(error);
  EXPECT_EQ(cudaGetLastError(), error) << "stays until it is taken";
  EXPECT_EQ(take_faults(), text + "\n");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  return text;
}

TEST_P(Mutants, MissingEventWait) {
  constexpr unsigned n = 64;
  const Numbers<double> x(n), y(n);
  const StreamHandle first, second;
  const EventHandle filled;
  launch(1, n, 0, first, &fill, x.data(), 4.0);
  ASSERT_EQ(cudaEventRecord(filled, first), cudaSuccess);
  launch(1, n, 0, second, &add, x.data(), y.data());
  ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_NE(y.read(), std::vector<double>(n, 5.0));
  EXPECT_EQ(cudaEventQuery(filled), cudaErrorNotReady) << "nobody has waited for it";
}

TEST_P(Mutants, HostDoesNotWaitBeforeItWritesAgain) {
  const Numbers<double> x(1);
  double number = 1.0;
  ASSERT_EQ(cudaMemcpyAsync(x.data(), &number, sizeof number, cudaMemcpyDefault, nullptr), cudaSuccess);
  number = 2.0;
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(x.read()[0], 2.0);
}

TEST_P(Mutants, ExitBeforeABarrier) {
  const std::string text = fault_of(3, 40, 0, &early_exit);
  EXPECT_TRUE(contains(text, "kernel shim::test::early_exit, block (")) << text;
  EXPECT_TRUE(contains(text, ", thread (")) << text;
  EXPECT_TRUE(contains(text, "divergent barrier")) << text;
  EXPECT_TRUE(contains(text, "kernels.hpp:")) << text;
}

TEST_P(Mutants, TwoBarriersAtOnce) {
  const std::string text = fault_of(1, 40, 0, &two_barriers);
  EXPECT_TRUE(contains(text, "kernel shim::test::two_barriers, block (0, 0, 0), thread (")) << text;
  EXPECT_TRUE(contains(text, "divergent barrier: it waits at kernels.hpp:")) << text;
}

TEST_P(Mutants, MaskNamesALaneThatHasExited) {
  const Numbers<int> result(32);
  const std::string text = fault_of(1, 32, 0, &mask_of_the_dead, result.data());
  EXPECT_TRUE(contains(text, "kernel shim::test::mask_of_the_dead, block (0, 0, 0), thread (")) << text;
  EXPECT_TRUE(contains(text, "exited")) << text;
}

TEST_P(Mutants, MaskNamesALaneThatTheBlockDoesNotHave) {
  const Numbers<double> x(std::vector<double>(48)), y(48);
  const Numbers<unsigned> votes(48);
  const std::string text = fault_of(1, 48, 0, &warp_sums, x.data(), y.data(), y.data(), votes.data());
  EXPECT_TRUE(contains(text, "names lane 16, which the block does not have")) << text;
}

TEST_P(Mutants, MasksThatWaitForEachOther) {
  const Numbers<int> result(32);
  const std::string text = fault_of(1, 32, 0, &crossed_masks, result.data());
  EXPECT_TRUE(contains(text, "no thread can go on") || contains(text, "lacks its own lane")) << text;
}

TEST_P(Mutants, MaskWithoutItsOwnLane) {
  const std::string text = fault_of(1, 32, 0, &mask_without_me);
  EXPECT_TRUE(contains(text, "thread (3, 0, 0): the mask 0x00000001 at kernels.hpp:")) << text;
  EXPECT_TRUE(contains(text, "lacks its own lane 3")) << text;
}

TEST_P(Mutants, DynamicSharedMemoryOverrun) {
  const std::string text = fault_of(1, 32, 32 * sizeof(int), &past_shared);
  EXPECT_TRUE(contains(text, "kernel shim::test::past_shared, block (0, 0, 0)")) << text;
  EXPECT_TRUE(contains(text, "behind its dynamic shared memory of 128 bytes")) << text;
}

TEST_P(Mutants, WriteBehindAnAllocation) {
#if defined(__SANITIZE_ADDRESS__)
  const auto overrun = [] {
    const Numbers<double> x(32);
    launch(1, 32, 0, nullptr, &past_the_end, x.data());
    cudaStreamSynchronize(nullptr);
  };
  EXPECT_DEATH(overrun(), "use-after-poison|heap-buffer-overflow");
#else
  const Numbers<double> x(32);
  const std::string text = fault_of(1, 32, 0, &past_the_end, x.data());
  EXPECT_EQ(text, "kernel shim::test::past_the_end has written behind an allocation of 256 bytes");
#endif
}

TEST_P(Mutants, CudaInAHostFunction) {
  cudaError_t error = cudaSuccess;
  ASSERT_EQ(cudaLaunchHostFunc(
                nullptr, [](void* to) { *static_cast<cudaError_t*>(to) = cudaStreamSynchronize(nullptr); }, &error),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(error, cudaErrorNotPermitted);
}

TEST_P(Mutants, CopyPastTheEnd) {
  const Numbers<double> x(4);
  const double numbers[5] = {};
  EXPECT_EQ(cudaMemcpyAsync(x.data(), numbers, sizeof numbers, cudaMemcpyDefault, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

INSTANTIATE_TEST_SUITE_P(Orders, Mutants, testing::ValuesIn(all_orders), order_name);

/// Shows in most orders only: so tests run in several.
TEST(MutantsOverOrders, MissingBarrier) {
  int wrong = 0;
  for (const std::string& order : all_orders) {
    set_order(Order(order));
    std::vector<double> ones(lanes, 1.0);
    const Numbers<double> x(ones), sum(1);
    launch(1, lanes, 0, nullptr, &block_sums<true>, x.data(), sum.data());
    wrong += sum.read()[0] != lanes ? 1 : 0;
  }
  set_order({});
  EXPECT_EQ(take_faults(), "");
  EXPECT_GE(wrong, 4) << "of " << all_orders.size();
}

}  // namespace
}  // namespace shim::test
