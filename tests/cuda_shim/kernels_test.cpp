// Right kernels give right results in every order of threads and blocks.
#include "cuda_shim/kernels.hpp"

#include <numeric>

#include "cuda_shim/harness.hpp"

namespace shim::test {
namespace {

using Kernels = InOrder;

std::vector<double> small_numbers(std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>((7 * i + 3) % 11);
  return x;
}

TEST_P(Kernels, BlockReductionWithBarriers) {
  constexpr unsigned blocks = 5;
  const std::vector<double> x = small_numbers(blocks * lanes);
  const Numbers<double> in(x), sums(blocks);
  launch(blocks, lanes, 0, nullptr, &block_sums<false>, in.data(), sums.data());
  const std::vector<double> result = sums.read();
  for (unsigned b = 0; b < blocks; ++b) {
    EXPECT_EQ(result[b], std::accumulate(x.begin() + b * lanes, x.begin() + (b + 1) * lanes, 0.0));
  }
}

TEST_P(Kernels, WarpSumsByShuffles) {
  const std::vector<double> x = small_numbers(3 * 64);
  const Numbers<double> in(x), down(6), across(x.size());
  const Numbers<unsigned> votes(x.size());
  launch(3, 64, 0, nullptr, &warp_sums, in.data(), down.data(), across.data(), votes.data());
  const std::vector<double> by_down = down.read(), by_xor = across.read();
  const std::vector<unsigned> ballots = votes.read();
  for (unsigned i = 0; i < x.size(); ++i) {
    const unsigned first = i / 32 * 32;
    const double sum = std::accumulate(x.begin() + first, x.begin() + first + 32, 0.0);
    EXPECT_EQ(by_down[i / 32], sum);
    EXPECT_EQ(by_xor[i], sum);
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(ballots[i] >> lane & 1U, x[first + lane] > 3.0 ? 1U : 0U);
  }
}

TEST_P(Kernels, DynamicSharedMemory) {
  constexpr unsigned n = 96, blocks = 4;
  std::vector<int> x(n * blocks);
  std::iota(x.begin(), x.end(), 0);
  const Numbers<int> in(x), out(x.size());
  launch(blocks, n, n * sizeof(int), nullptr, &reversed, in.data(), out.data());
  const std::vector<int> result = out.read();
  for (unsigned i = 0; i < x.size(); ++i) EXPECT_EQ(result[i], x[i / n * n + n - 1 - i % n]);
}

TEST_P(Kernels, AtomicsAndTwoDimensions) {
  const Numbers<unsigned> counts(std::vector<unsigned>(3, 0));
  const Numbers<unsigned long long> least(std::vector<unsigned long long>(1, ~0ULL));
  const Numbers<int> greatest(std::vector<int>(1, -1));
  launch(dim3(3, 2), dim3(8, 5), 0, nullptr, &count_threads, counts.data(), least.data(), greatest.data());
  const std::vector<unsigned> seen = counts.read();
  EXPECT_EQ(seen[0], 240U);
  EXPECT_EQ(seen[1], 240U % 7);
  EXPECT_EQ(seen[2], 240U * 239U / 2);
  EXPECT_EQ(least.read()[0], 100U);
  EXPECT_EQ(greatest.read()[0], 239);
}

TEST_P(Kernels, TwoStreamsWithAnEvent) {
  constexpr unsigned n = 1000;
  const Numbers<double> x(n), y(n);
  const StreamHandle first, second;
  const EventHandle filled;
  launch(n / 100, 100, 0, first, &fill, x.data(), 4.0);
  ASSERT_EQ(cudaEventRecord(filled, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, filled, 0), cudaSuccess);
  launch(n / 100, 100, 0, second, &add, x.data(), y.data());
  ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(y.read(), std::vector<double>(n, 5.0));
}

TEST_P(Kernels, LaunchesAreCountedByName) {
  const Numbers<double> x(32), y(32);
  reset_launches();
  launch(1, 32, 0, nullptr, &fill, x.data(), 1.0);
  launch(1, 32, 0, nullptr, &add, x.data(), y.data());
  launch(1, 32, 0, nullptr, &add, x.data(), y.data());
  EXPECT_EQ(launch_count(), 3);
  const std::map<std::string, std::int64_t> expected = {{"shim::test::add", 2}, {"shim::test::fill", 1}};
  EXPECT_EQ(launches(), expected);
  reset_launches();
  EXPECT_EQ(launch_count(), 0);
  const Numbers<double> in(small_numbers(lanes)), sum(1);
  launch(1, lanes, 0, nullptr, &block_sums<false>, in.data(), sum.data());
  EXPECT_EQ(launches().count("shim::test::block_sums<false>"), 1U);
}

INSTANTIATE_TEST_SUITE_P(Orders, Kernels, testing::ValuesIn(all_orders), order_name);

}  // namespace
}  // namespace shim::test
