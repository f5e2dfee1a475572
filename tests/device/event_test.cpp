#include "dsea/device/event.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "device/devices.hpp"
#include "dsea/base/signal.hpp"

namespace dsea::test {
namespace {

using namespace std::chrono_literals;

class EventTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, EventTest, testing::ValuesIn(all_devices()), case_name);

class AsyncEventTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, AsyncEventTest, testing::ValuesIn(async_devices()), case_name);

TEST(Event, DefaultIsAlwaysDone) {
  Event event;
  EXPECT_TRUE(event.done());
  EXPECT_TRUE(event.wait_for(0ns));
  Stream stream(host_case("sync", 1, false).open(), "test");
  stream.wait(event);
  EXPECT_THROW(event.record(stream), RunError);
}

TEST_P(EventTest, IsDoneBeforeTheFirstRecordAndAfterTheWork) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  Event event(device);
  EXPECT_TRUE(event.done());
  stream.wait(event);
  for (int round = 1; round <= 3; ++round) {
    std::atomic<int> seen = 0;
    stream.host_task([&seen, round] { seen = round; });
    event.record(stream);
    EXPECT_TRUE(event.wait_for(1min));
    EXPECT_TRUE(event.done());
    EXPECT_EQ(seen, round);
  }
}

TEST_P(EventTest, MayGoBeforeItIsDone) {
  const Device device = GetParam().open();
  Stream a(device, "a"), b(device, "b");
  int value = 0;
  {
    Event event(device);
    a.host_task([&value] { value = 1; });
    event.record(a);
    b.wait(event);
  }
  int seen = 0;
  b.host_task([&value, &seen] { seen = value; });
  b.synchronize();
  EXPECT_EQ(seen, 1);
}

TEST_P(EventTest, TimesWork) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  Event begin(device, true), end(device, true);
  begin.record(stream);
  stream.host_task([] { std::this_thread::sleep_for(3ms); });
  end.record(stream);
  stream.synchronize();
  EXPECT_GE(Event::seconds_between(begin, end), 0.0029);
  const Event without(device);
  EXPECT_THROW(Event::seconds_between(begin, without), RunError);
}

TEST_P(AsyncEventTest, IsNotDoneBeforeTheWork) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  Event event(device);
  Gate gate;
  stream.host_task(gate.task());
  event.record(stream);
  EXPECT_FALSE(event.done());
  EXPECT_FALSE(event.wait_for(1ms));
  gate.open();
  EXPECT_TRUE(event.wait_for(1min));
}

TEST_P(AsyncEventTest, MakesAnotherStreamWait) {
  const Device device = GetParam().open();
  Stream a(device, "a"), b(device, "b");
  Event event(device), after(device);
  Gate gate;
  int value = 0, seen = -1;
  a.host_task(gate.task());
  a.host_task([&value] { value = 42; });
  event.record(a);
  b.wait(event);
  b.host_task([&value, &seen] { seen = value; });
  after.record(b);
  EXPECT_FALSE(after.wait_for(2ms));
  gate.open();
  EXPECT_TRUE(after.wait_for(1min));
  EXPECT_EQ(seen, 42);
}

TEST_P(AsyncEventTest, WaitTakesTheLastRecord) {
  const Device device = GetParam().open();
  Stream a(device, "a"), b(device, "b");
  Event event(device);
  int value = 0, seen = -1;
  Gate gate;
  a.host_task([&value] { value = 1; });
  event.record(a);
  a.host_task(gate.task());
  a.host_task([&value] { value = 2; });
  event.record(a);
  b.wait(event);
  b.host_task([&value, &seen] { seen = value; });
  gate.open();
  b.synchronize();
  EXPECT_EQ(seen, 2);
}

TEST_P(AsyncEventTest, LaterRecordsAreNotWaitedFor) {
  const Device device = GetParam().open();
  Stream a(device, "a"), b(device, "b");
  Event event(device);
  Gate first, second;
  a.host_task(first.task());
  event.record(a);
  b.wait(event);
  a.host_task(second.task());
  event.record(a);
  std::atomic<bool> ran = false;
  b.host_task([&ran] { ran = true; });
  first.open();
  b.synchronize();  // would hang if it waited for the second record
  EXPECT_TRUE(ran);
  EXPECT_FALSE(event.done());
  second.open();
  EXPECT_TRUE(event.wait_for(1min));
}

TEST_P(AsyncEventTest, RecordsInTwoStreamsCompleteInOrder) {
  const Device device = GetParam().open();
  Stream a(device, "a"), b(device, "b"), c(device, "c");
  Event event(device);
  Gate gate;
  int value = 0, seen = -1;
  a.host_task(gate.task());
  a.host_task([&value] { value = 1; });
  event.record(a);
  c.wait(event);
  c.host_task([&value, &seen] { seen = value; });
  event.record(b);  // nothing before it in b, yet c waits for the record in a
  gate.open();
  c.synchronize();
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(event.wait_for(1min));
}

TEST_P(AsyncEventTest, NotifiesASignal) {
  const Device device = GetParam().open();
  Signal signal;
  Stream stream(device, "test");
  Event event(device);
  event.on_done(&signal);
  Gate gate;
  const std::uint64_t seen = signal.now();
  stream.host_task(gate.task());
  event.record(stream);
  EXPECT_EQ(signal.now(), seen);
  gate.open();
  EXPECT_TRUE(signal.wait_past(seen, 1min));
  EXPECT_TRUE(event.done());
  event.record(stream);
  EXPECT_TRUE(signal.wait_past(seen + 1, 1min));
  stream.synchronize();
}

/// Whether a reader in one stream ever misses what a writer in another one wrote before.
bool misses_something(const Device& device, bool waits) {
  bool missed = false;
  Stream writer(device, "writer"), reader(device, "reader");
  Event written(device);
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> value = false, seen = false;
    writer.host_task([&value] { value = true; });
    written.record(writer);
    if (waits) reader.wait(written);
    reader.host_task([&value, &seen] { seen = value.load(); });
    writer.synchronize();
    reader.synchronize();
    missed = missed || !seen;
  }
  return missed;
}

TEST(DelayedStreams, ShowAForgottenWait) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Device device = host_case("delayed", 1, true, seed).open();
    EXPECT_TRUE(misses_something(device, false));
    EXPECT_FALSE(misses_something(device, true));
  }
}

}  // namespace
}  // namespace dsea::test
