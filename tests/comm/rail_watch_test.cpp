#include "dsea/comm/rail_watch.hpp"

#include <gtest/gtest.h>

namespace {

using dsea::Clock;
using dsea::RailWatch;
using namespace std::chrono_literals;

/// A watch of two rails with a time-out of 20 s, looked at four times a second; rails that are up answer at once.
class Scene {
 public:
  RailWatch watch{2, 20s};
  bool up[2] = {true, true};
  bool waits = true;
  Clock::time_point now = Clock::time_point{} + 1h;

  void pass(std::chrono::milliseconds time) {
    for (const Clock::time_point end = now + time; now < end; now += 250ms) {
      watch.look(waits, now);
      for (std::size_t r : {0U, 1U}) {
        if (!watch.wants_ping(r, now)) continue;
        watch.pinged(r, now);
        if (up[r]) watch.heard(r, now);
      }
    }
  }
};

TEST(RailWatch, RailsThatAnswerLiveHoweverLongNothingElseMoves) {
  Scene s;
  s.pass(1h);
  EXPECT_FALSE(s.watch.is_dead(0, s.now));
  EXPECT_FALSE(s.watch.all_silent(s.now));
}

TEST(RailWatch, ASilentRailIsDeadAfterHalfTheTimeOutIfTheOtherAnswers) {
  Scene s;
  s.pass(2s);
  s.up[1] = false;
  s.pass(9s);
  EXPECT_FALSE(s.watch.is_dead(1, s.now));
  s.pass(3s);
  EXPECT_TRUE(s.watch.is_dead(1, s.now));
  EXPECT_FALSE(s.watch.is_dead(0, s.now));
  EXPECT_EQ(s.watch.best(), 0U);
  s.watch.lost(1);
  EXPECT_FALSE(s.watch.is_dead(1, s.now)) << "it is known";
  EXPECT_FALSE(s.watch.all_silent(s.now));
}

TEST(RailWatch, ARailThatComesBackInTimeLives) {
  Scene s;
  s.up[1] = false;
  s.pass(7s);
  s.watch.heard(1, s.now);
  s.up[1] = true;
  s.pass(30s);
  EXPECT_FALSE(s.watch.is_dead(1, s.now));
}

TEST(RailWatch, WhenAllAreSilentNoneIsDeadButTheLinkIsCutAfterTheTimeOut) {
  Scene s;
  s.up[0] = s.up[1] = false;
  s.pass(19s);
  EXPECT_FALSE(s.watch.is_dead(0, s.now) || s.watch.is_dead(1, s.now));
  EXPECT_FALSE(s.watch.all_silent(s.now));
  s.pass(2s);
  EXPECT_TRUE(s.watch.all_silent(s.now));
}

TEST(RailWatch, SilenceCountsOnlyWhileSomethingIsWaitedFor) {
  Scene s;
  s.up[0] = s.up[1] = false;
  s.waits = false;
  s.pass(1h);
  s.waits = true;
  s.pass(19s);
  EXPECT_FALSE(s.watch.all_silent(s.now));
}

TEST(RailWatch, AProcessThatWasStoppedCountsAnew) {
  Scene s;
  s.up[0] = s.up[1] = false;
  s.pass(15s);
  s.now += 1h;
  s.pass(15s);
  EXPECT_FALSE(s.watch.all_silent(s.now));
  s.pass(6s);
  EXPECT_TRUE(s.watch.all_silent(s.now));
}

}  // namespace
