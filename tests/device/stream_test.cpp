#include "dsea/device/stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "device/devices.hpp"

namespace dsea::test {
namespace {

class StreamTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, StreamTest, testing::ValuesIn(all_devices()), case_name);

class HostStreamTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, HostStreamTest, testing::ValuesIn(host_devices()), case_name);

class AsyncStreamTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, AsyncStreamTest, testing::ValuesIn(async_devices()), case_name);

TEST_P(StreamTest, RunsTasksInOrder) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  EXPECT_EQ(stream.name(), "test");
  EXPECT_EQ(stream.is_cuda(), device.is_cuda());
  EXPECT_EQ(stream.native() != nullptr, device.is_cuda());
  const std::size_t n = device.delay_seed() != 0 ? Stream::queue_length + 20 : 5 * Stream::queue_length;
  std::vector<std::size_t> order;
  order.reserve(n);
  for (std::size_t i = 0; i < n; ++i) stream.host_task([&order, i] { order.push_back(i); });
  stream.synchronize();
  std::vector<std::size_t> expected(n);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(order, expected);
}

TEST_P(StreamTest, TakesLargeTasks) {
  Stream stream(GetParam().open(), "test");
  std::array<std::uint64_t, 90> numbers{};
  std::iota(numbers.begin(), numbers.end(), 1u);
  std::uint64_t sum = 0;
  stream.host_task([&sum, numbers] { sum = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}); });
  stream.synchronize();
  EXPECT_EQ(sum, 4095u);
}

TEST_P(StreamTest, DestroysTasksOnce) {
  const auto held = std::make_shared<int>(1);
  {
    Stream stream(GetParam().open(), "test");
    for (int i = 0; i < 10; ++i) stream.host_task([held] { *held += 1; });
    stream.synchronize();
    EXPECT_EQ(held.use_count(), 1);
    for (int i = 0; i < 10; ++i) stream.host_task([held] { *held += 1; });
  }  // the destructor waits
  EXPECT_EQ(*held, 21);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(StreamTest, MovesWithItsWork) {
  Stream stream(GetParam().open(), "first");
  std::vector<int> seen;
  stream.host_task([&seen] { seen.push_back(1); });
  Stream moved(std::move(stream));
  moved.host_task([&seen] { seen.push_back(2); });
  moved.synchronize();
  EXPECT_EQ(moved.name(), "first");
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST_P(StreamTest, CopiesAndZeroes) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1001}, (std::size_t{3} << 20) + 1}) {
    std::vector<unsigned char> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<unsigned char>(i * 7 + 1);
    const Buffer a = to_device(stream, values);
    const Buffer b(device, n, Memory::pinned);
    copy(stream, b.data(), a.data(), n);
    EXPECT_EQ(from_device(stream, b.as<const unsigned char>(), n), values);
    if (n < 2) continue;
    fill_zero(stream, b.as<unsigned char>() + 1, n - 2);
    std::vector<unsigned char> expected(n, 0);
    expected.front() = values.front();
    expected.back() = values.back();
    EXPECT_EQ(from_device(stream, b.as<const unsigned char>(), n), expected);
  }
}

TEST_P(HostStreamTest, HostRunIsInOrderWithTasks) {
  Stream stream(GetParam().open(), "test");
  std::vector<int> seen;
  stream.host_run([&seen] { seen.push_back(1); });
  stream.host_task([&seen] { seen.push_back(2); });
  stream.host_run([&seen] { seen.push_back(3); });
  stream.synchronize();
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST(SyncStream, RunsInTheCallerAndThrowsThere) {
  Stream stream(host_case("sync", 1, false).open(), "test");
  std::thread::id where;
  stream.host_task([&where] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_THROW(stream.host_task([] { throw std::runtime_error("bang"); }), std::runtime_error);
  EXPECT_EQ(stream.error(), nullptr);
  stream.synchronize();
}

TEST_P(AsyncStreamTest, RunsElsewhere) {
  Stream stream(GetParam().open(), "test");
  Gate gate;
  std::thread::id where;
  stream.host_task(gate.task());
  stream.host_task([&where] { where = std::this_thread::get_id(); });  // returns although the gate is closed
  gate.open();
  stream.synchronize();
  EXPECT_NE(where, std::thread::id());
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST_P(AsyncStreamTest, WaitsWhenTheQueueIsFull) {
  Stream stream(GetParam().open(), "test");
  Gate gate;
  std::atomic<int> done = 0;
  const int n = static_cast<int>(Stream::queue_length) + 10;
  stream.host_task(gate.task());
  std::atomic<bool> all_added = false;
  std::jthread producer([&] {
    for (int i = 0; i < n; ++i) stream.host_task([&done] { ++done; });
    all_added = true;
  });
  EXPECT_FALSE(all_added);  // it cannot add all before the gate opens
  gate.open();
  producer.join();
  stream.synchronize();
  EXPECT_EQ(done, n);
}

TEST_P(AsyncStreamTest, KeepsTheFirstErrorAndSkipsTheRest) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  const auto held = std::make_shared<int>(0);
  Event event(device);
  EXPECT_EQ(stream.error(), nullptr);
  stream.host_task([] { throw std::runtime_error("first"); });
  stream.host_task([held] { *held = 1; });
  stream.host_run([] { throw std::runtime_error("second"); });
  event.record(stream);
  EXPECT_TRUE(event.wait_for(std::chrono::minutes(1)));  // nobody waits for ever
  EXPECT_NE(stream.error(), nullptr);
  EXPECT_EQ(message_of<std::runtime_error>([&] { stream.synchronize(); }), "first");
  EXPECT_EQ(*held, 0);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace dsea::test
