#include "dsea/ring/stage_machine.hpp"

#include <gtest/gtest.h>

#include "dsea/base/error.hpp"

namespace {

using dsea::Order;
using dsea::Schedule;
using dsea::StageMachine;

StageMachine machine(int slices, int workers, std::vector<int> slots, bool one_process, Schedule schedule,
                     int first = 0, int depth = 1) {
  StageMachine::Setup setup;
  setup.slices = slices;
  setup.workers = workers;
  setup.slots = std::move(slots);
  setup.one_process = one_process;
  setup.first_position = first;
  setup.depth = depth;
  return {setup, std::move(schedule)};
}

void receive(StageMachine& m) {
  m.begin_receive();
  m.received();
}

TEST(StageMachine, AWorkerNeedsItsNeighboursAndRoomForWhatItWrites) {
  StageMachine m = machine(5, 1, {5, 3}, false, Schedule({{1, 1}}, std::nullopt, 1, 2));
  EXPECT_FALSE(m.possible(0));
  receive(m);
  EXPECT_FALSE(m.possible(0));  // slice 1 is missing
  receive(m);
  const auto job = m.possible(0);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->slice, 0);
  EXPECT_EQ(job->completes_end, 0);  // slice 1 has yet to contribute to slice 0
  m.start(*job);
  EXPECT_EQ(m.taken(1), 2);
  EXPECT_FALSE(m.possible(0));  // its own work is under way
  m.launched(*job);
  m.finished(0);
  EXPECT_EQ(m.freed(0), 0);  // slice 1 still reads slice 0
  receive(m);
  const auto second = m.possible(0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->completes_begin, 0);
  EXPECT_EQ(second->completes_end, 1);
  m.start(*second);
  m.launched(*second);
  EXPECT_EQ(m.ready(1), 1);
  EXPECT_FALSE(m.can_send());  // ready for streams; the host does not know yet
  m.finished(0);
  EXPECT_TRUE(m.can_send());
  EXPECT_EQ(m.freed(0), 1);
  receive(m);
  EXPECT_FALSE(m.possible(0));  // slice 3 of the output has no slot
  m.sent();
  EXPECT_TRUE(m.possible(0));
}

TEST(StageMachine, WhatIsHandedOnMayGoAheadOfItsSlice) {
  // The second worker contributes to a neighbour: its slice 0 is complete when slice 1 has been worked on.
  StageMachine m = machine(4, 2, {3, 3, 3}, false, Schedule({{0, 0}, {0, 1}}, std::nullopt, 2, 4));
  const auto start = [&](int worker) {
    const auto job = m.possible(worker);
    EXPECT_TRUE(job);
    m.start(*job);
    return *job;
  };
  receive(m);
  const auto first = start(0);
  EXPECT_FALSE(m.announce(first)) << "it stays in the process";
  m.launched(first);
  EXPECT_FALSE(m.can_send_ahead());
  const auto second = start(1);  // its input is ready, but not complete
  EXPECT_FALSE(m.announce(second));
  EXPECT_FALSE(m.can_send_ahead());
  m.finished(0);
  EXPECT_TRUE(m.can_send_ahead());
  m.launched(second);
  m.finished(1);
  EXPECT_FALSE(m.can_send());
  EXPECT_TRUE(m.can_send_ahead());
  EXPECT_EQ(m.next_send(), 0);

  receive(m);
  const auto third = start(0);
  m.launched(third);
  m.finished(0);
  const auto fourth = start(1);
  EXPECT_TRUE(m.announce(fourth)) << "slice 0 still may";
  m.launched(fourth);
  m.finished(1);
  EXPECT_TRUE(m.can_send());
  EXPECT_FALSE(m.can_send_ahead()) << "it is complete, and goes as a whole";
  m.sent();
  EXPECT_TRUE(m.can_send_ahead()) << "now slice 1 may";
  EXPECT_EQ(m.next_send(), 1);
}

TEST(StageMachine, NothingGoesAheadOfWhatLeavesTheRing) {
  const Schedule schedule({{0, 0}}, std::nullopt, 2, 2);  // one super-cycle
  for (const bool is_last : {false, true}) {
    StageMachine m = machine(3, 1, {3, 3}, false, schedule, is_last ? 1 : 0);
    receive(m);
    const auto job = m.possible(0);
    ASSERT_TRUE(job);
    m.start(*job);
    EXPECT_EQ(m.announce(*job), !is_last);
    EXPECT_EQ(m.can_send_ahead(), !is_last);
  }
  StageMachine alone = machine(2, 1, {4}, true, schedule);
  for (int i = 0; i < 2; ++i) receive(alone);
  const auto job = alone.possible(0);
  ASSERT_TRUE(job);
  EXPECT_THROW(alone.announce(*job), dsea::RunError) << "it has not been started";
  alone.start(*job);
  EXPECT_FALSE(alone.announce(*job));
}

TEST(StageMachine, TheLastSliceCompletesAllThatIsLeft) {
  StageMachine m = machine(3, 1, {3, 3}, false, Schedule({{1, 2}}, std::nullopt, 1, 2));
  for (int i = 0; i < 3; ++i) receive(m);
  for (int i = 0; i < 3; ++i) {
    const auto job = m.possible(0);
    ASSERT_TRUE(job);
    m.start(*job);
    m.launched(*job);
    m.finished(0);
    EXPECT_EQ(m.complete(1), i == 2 ? 3 : 0);
  }
  EXPECT_EQ(m.freed(0), 3);
}

TEST(StageMachine, DepthLimitsWhatIsUnderWay) {
  StageMachine m = machine(5, 1, {5, 5}, false, Schedule({{0, 0}}, std::nullopt, 1, 2), 0, 2);
  for (int i = 0; i < 5; ++i) receive(m);
  for (int i = 0; i < 2; ++i) {
    const auto job = m.possible(0);
    ASSERT_TRUE(job);
    m.start(*job);
    m.launched(*job);
  }
  EXPECT_EQ(m.in_flight(0), 2);
  EXPECT_FALSE(m.possible(0));
  EXPECT_EQ(m.freed(0), 0);
  m.finished(0);
  EXPECT_EQ(m.freed(0), 1);
  EXPECT_TRUE(m.possible(0));
}

TEST(StageMachine, OneProcessLoadsThenHandsOnThenEmpties) {
  // One worker, three slices, two steps: ring 0 holds both what is loaded and what the worker makes.
  StageMachine m = machine(3, 1, {4}, true, Schedule({{0, 0}}, std::nullopt, 2, 1));
  receive(m);
  EXPECT_FALSE(m.possible(0));  // its output comes behind all loaded slices
  receive(m);
  receive(m);
  EXPECT_FALSE(m.next_receive());
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(m.can_send());
    const auto job = m.possible(0);
    ASSERT_TRUE(job) << m.describe();
    EXPECT_EQ(job->supercycle, i / 3);
    EXPECT_EQ(job->out_item, job->item + 3);
    m.start(*job);
    m.launched(*job);
    m.finished(0);
    if (i < 3) continue;
    ASSERT_TRUE(m.can_send());
    EXPECT_TRUE(m.exits(*m.next_send()));
    EXPECT_FALSE(m.done());
    m.sent();
  }
  EXPECT_TRUE(m.done());
}

TEST(StageMachine, OnlyTheLastPositionLetsSlicesLeave) {
  const Schedule schedule({{0, 0}}, std::nullopt, 8, 4);
  const StageMachine first = machine(3, 2, {1, 1, 1}, false, schedule, 0),
                     last = machine(3, 2, {1, 1, 1}, false, schedule, 2);
  for (int item = 0; item < 6; ++item) {
    EXPECT_FALSE(first.exits(item));
    EXPECT_EQ(last.exits(item), item >= 3);
  }
  EXPECT_EQ(first.send_ring(), 2);
}

TEST(StageMachine, PastTheEndSlicesAreHandedOn) {
  StageMachine m = machine(2, 2, {1, 1, 2}, false, Schedule({{1, 1}}, std::nullopt, 0, 4));
  receive(m);
  const auto job = m.possible(0);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, Schedule::hand_on);
  EXPECT_EQ(job->order, (Order{0, 0}));
}

TEST(StageMachine, SaysWhatEverybodyWaitsFor) {
  StageMachine m = machine(4, 2, {3, 1, 1}, false, Schedule({{1, 0}}, std::nullopt, 4, 2));
  receive(m);
  std::string text = m.describe();
  EXPECT_NE(text.find("worker 0 (position 0): 0 under way, next slice 0 of super-cycle 0, waits for slice 1"),
            std::string::npos)
      << text;
  receive(m);
  EXPECT_NE(m.describe().find("next slice 0 of super-cycle 0, may start"), std::string::npos);
  const auto job = m.possible(0);
  ASSERT_TRUE(job);
  m.start(*job);
  EXPECT_NE(m.describe().find("waits for its own work under way"), std::string::npos);
  m.launched(*job);
  m.finished(0);
  receive(m);
  EXPECT_NE(m.describe().find("waits for a free slot in ring 1"), std::string::npos) << m.describe();
}

TEST(StageMachine, WorkIsFinishedInTheOrderOfTheRing) {
  StageMachine m = machine(2, 2, {2, 2, 2}, false, Schedule({{0, 0}}, std::nullopt, 2, 2));
  receive(m);
  for (int w = 0; w < 2; ++w) {
    const auto job = m.possible(w);
    ASSERT_TRUE(job);
    m.start(*job);
    m.launched(*job);
  }
  // The second worker's event may be seen first; its input is ready, but not complete.
  EXPECT_FALSE(m.may_finish(1));
  EXPECT_THROW(m.finished(1), dsea::RunError);
  EXPECT_TRUE(m.may_finish(0));
  m.finished(0);
  EXPECT_TRUE(m.may_finish(1));
  m.finished(1);
  EXPECT_TRUE(m.can_send());
}

TEST(StageMachine, MisuseIsAnError) {
  StageMachine m = machine(2, 1, {1, 1}, false, Schedule({{0, 0}}, std::nullopt, 1, 2));
  EXPECT_THROW(m.sent(), dsea::RunError);
  EXPECT_THROW(m.finished(0), dsea::RunError);
  m.begin_receive();
  EXPECT_THROW(m.begin_receive(), dsea::RunError);
  EXPECT_THROW(machine(2, 1, {1}, false, Schedule({{0, 0}}, std::nullopt, 1, 2)), dsea::RunError);
}

}  // namespace
