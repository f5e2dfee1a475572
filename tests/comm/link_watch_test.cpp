// The judgement of neighbours, by a clock of the test's own.
#include "dsea/comm/link_watch.hpp"

#include <gtest/gtest.h>

namespace {

using dsea::Activity;
using dsea::Clock;
using dsea::LinkWatch;
using namespace std::chrono_literals;

class Watched : public testing::Test {
 protected:
  /// Time goes on; the thread looks once a beat, and the neighbour says something if it is well.
  void pass(std::chrono::nanoseconds time, bool neighbour_well) {
    for (const auto end = now + time; now < end;) {
      now += LinkWatch::beat(20s);
      watch.looks(now);
      if (neighbour_well) hear();
    }
  }
  void hear() {
    watch.heard(now);
    watch.activity(dsea::load_connection, sending, receiving, now);
  }

  Clock::time_point now = Clock::now();
  LinkWatch watch{20s, now};
  Activity sending, receiving;
};

TEST(LinkWatch, BeatsATwentiethWithinLimits) {
  EXPECT_EQ(LinkWatch::beat(20s), 1s);
  EXPECT_EQ(LinkWatch::beat(3600s), 1s);
  EXPECT_EQ(LinkWatch::beat(2s), 100ms);
  EXPECT_EQ(LinkWatch::beat(100ms), 50ms);
}

TEST_F(Watched, ANeighbourIsSilentAfterTheTimeOutAndNotBefore) {
  pass(100s, true);
  EXPECT_FALSE(watch.silent(now));
  pass(19s, false);
  EXPECT_FALSE(watch.silent(now));
  pass(1s, false);
  EXPECT_TRUE(watch.silent(now));
}

TEST_F(Watched, AProcessThatWasSuspendedItselfCountsAnew) {
  pass(15s, false);
  now += 300s;  // nobody looked
  watch.looks(now);
  EXPECT_FALSE(watch.silent(now));
  pass(19s, false);
  EXPECT_FALSE(watch.silent(now));
  pass(1s, false);
  EXPECT_TRUE(watch.silent(now));
}

TEST_F(Watched, ALateLookIsNoSuspension) {
  pass(15s, false);
  now += 4s;
  watch.looks(now);
  pass(1s, false);
  EXPECT_TRUE(watch.silent(now));
}

TEST_F(Watched, ALinkIsStalledIfBothWaitForTheSameTransfer) {
  sending = {.started = 8, .completed = 7, .moved = 30};
  receiving = {.started = 8, .completed = 7, .moved = 29};
  pass(20s, true);  // the first second brings the news of it
  EXPECT_FALSE(watch.stalled(dsea::load_connection, now));
  pass(1s, true);
  EXPECT_TRUE(watch.stalled(dsea::load_connection, now));
  EXPECT_FALSE(watch.stalled(dsea::ring_connection, now)) << "nothing is to go through it";
  ++sending.moved;
  pass(1s, true);
  EXPECT_FALSE(watch.stalled(dsea::load_connection, now));
}

TEST_F(Watched, ALinkOfWhichOneSideIsNotReadyOnlyWaits) {
  sending = {.started = 8, .completed = 7, .moved = 30};
  receiving = {.started = 7, .completed = 7, .moved = 30};  // has no free slot
  pass(100s, true);
  EXPECT_FALSE(watch.stalled(dsea::load_connection, now));
  sending = {.started = 8, .completed = 8, .moved = 30};
  receiving = {.started = 9, .completed = 8, .moved = 30};  // nothing to receive yet
  pass(100s, true);
  EXPECT_FALSE(watch.stalled(dsea::load_connection, now));
}

TEST_F(Watched, ASmallTransferMayBeOverForItsSenderAndNeverArrive) {
  sending = {.started = 9, .completed = 9, .moved = 30};
  receiving = {.started = 8, .completed = 7, .moved = 29};
  pass(22s, true);
  EXPECT_TRUE(watch.stalled(dsea::load_connection, now));
}

TEST_F(Watched, ASlowLinkIsNotStalled) {
  sending = {.started = 8, .completed = 7, .moved = 30};
  receiving = {.started = 8, .completed = 7, .moved = 29};
  for (int messages = 0; messages < 10; ++messages) {
    pass(18s, true);
    ++receiving.moved;
    EXPECT_FALSE(watch.stalled(dsea::load_connection, now));
  }
}

TEST_F(Watched, ASilentNeighbourIsNotCalledAStalledLink) {
  sending = {.started = 8, .completed = 7, .moved = 30};
  receiving = {.started = 8, .completed = 7, .moved = 29};
  pass(2s, true);
  pass(30s, false);
  EXPECT_TRUE(watch.silent(now));
  EXPECT_FALSE(watch.stalled(dsea::load_connection, now));
}

TEST_F(Watched, AStallIsCountedAnewAfterASuspension) {
  sending = {.started = 8, .completed = 7, .moved = 30};
  receiving = {.started = 8, .completed = 7, .moved = 29};
  pass(15s, true);
  now += 300s;
  watch.looks(now);
  hear();
  pass(10s, true);
  EXPECT_FALSE(watch.stalled(dsea::load_connection, now));
}

}  // namespace
