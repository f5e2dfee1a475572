// Table 1 of the paper, stage by stage: one worker that reads and writes one neighbour on each side. The table counts
// slices and stages from 1, and so does this file.
#include <gtest/gtest.h>

#include <algorithm>

#include "ring/lockstep_ring.hpp"

namespace {

using dsea::Schedule;
using dsea::StageMachine;

struct Row {
  std::vector<int> holds;  // received in earlier stages, not free again
  int receive = 0;         // 0: nothing
  int process = 0;
  std::vector<int> partial;  // at the end of the stage
  std::vector<int> complete;
  int transfer = 0;  // sent during this stage
  bool operator==(const Row&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  const auto list = [&](const std::vector<int>& v) {
    for (int i : v) out << i << " ";
  };
  out << "holds ";
  list(row.holds);
  out << "receive " << row.receive << " process " << row.process << " partial ";
  list(row.partial);
  out << "complete ";
  list(row.complete);
  return out << "transfer " << row.transfer;
}

/// The first process of a long ring, whose successor always takes what is sent.
std::vector<Row> stages(int n) {
  StageMachine::Setup setup;
  setup.slices = n;
  setup.workers = 1;
  setup.slots = {n, n};
  StageMachine m(setup, Schedule({{1, 1}}, std::nullopt, 2, 2));
  std::vector<Row> rows;
  while (!m.done()) {
    Row row;
    for (auto item = m.freed(0); item < m.ready(0); ++item) row.holds.push_back(static_cast<int>(item) + 1);
    const bool receives = m.can_receive(), sends = m.can_send();
    const auto job = m.possible(0);
    if (receives) {
      row.receive = static_cast<int>(*m.next_receive()) + 1;
      m.begin_receive();
    }
    if (sends) row.transfer = static_cast<int>(*m.next_send()) + 1;
    if (job) {
      row.process = job->slice + 1;
      m.start(*job);
      m.launched(*job);
      m.finished(0);
      for (int s = job->completes_begin; s < job->completes_end; ++s) row.complete.push_back(s + 1);
    }
    if (receives) m.received();
    if (sends) m.sent();
    for (auto item = m.complete(1); item < m.taken(1); ++item) row.partial.push_back(static_cast<int>(item) + 1);
    rows.push_back(row);
    if (rows.size() > 10U * static_cast<unsigned>(n) + 10) break;
  }
  return rows;
}

TEST(Table1, FirstStages) {
  const auto rows = stages(9);
  EXPECT_EQ(rows[0], (Row{{}, 1, 0, {}, {}, 0}));
  EXPECT_EQ(rows[1], (Row{{1}, 2, 0, {}, {}, 0}));
  EXPECT_EQ(rows[2], (Row{{1, 2}, 3, 1, {1, 2}, {}, 0}));
  EXPECT_EQ(rows[3], (Row{{1, 2, 3}, 4, 2, {2, 3}, {1}, 0}));  // the table lists 1 as sent: it is complete
  EXPECT_EQ(rows[4], (Row{{2, 3, 4}, 5, 3, {3, 4}, {2}, 1}));  // the transfer itself starts here
}

TEST(Table1, EveryStageOfManyRingLengths) {
  for (int n = 1; n <= 40; ++n) {
    const auto rows = stages(n);
    for (int stage = 1; stage <= static_cast<int>(rows.size()); ++stage) {
      const Row& row = rows[static_cast<std::size_t>(stage - 1)];
      const int slice = stage - 2;  // the one processed
      Row expected;
      if (stage <= n) expected.receive = stage;
      // With a single slice there is no neighbour to wait for.
      const int processed = n == 1 ? stage - 1 : slice;
      if (processed >= 1 && processed <= n) {
        expected.process = processed;
        for (int s = processed; s <= std::min(processed + 1, n) && processed < n; ++s) expected.partial.push_back(s);
        if (processed > 1) expected.complete.push_back(processed - 1);
        if (processed == n) expected.complete.push_back(n);
      }
      const int held_from = std::max(1, processed - 1), held_to = std::min(stage - 1, n);
      for (int s = held_from; s <= held_to && processed <= n; ++s) expected.holds.push_back(s);
      // Complete two stages after being processed with its right neighbour; one transfer a stage, in order.
      const int transfer = n == 1 ? stage - 2 : stage - 4;
      if (transfer >= 1 && transfer <= n) expected.transfer = transfer;
      EXPECT_EQ(row, expected) << "stage " << stage << " of " << n << " slices";
    }
  }
}

TEST(Table1, TheLastSliceIsProcessedInStageNPlus2AndSentInTheOneAfterItsNeighbour) {
  for (const int n : {2, 3, 7, 30}) {
    const auto rows = stages(n);
    ASSERT_EQ(static_cast<int>(rows.size()), n + 4);  // the last transfer: stage N + 4
    EXPECT_EQ(rows[static_cast<std::size_t>(n + 1)].process, n);
    EXPECT_EQ(rows[static_cast<std::size_t>(n + 3)].transfer, n);
    // Slices as the table lists them: sent in the stage before the transfer.
    for (int stage = 4; stage <= n + 3; ++stage) EXPECT_EQ(rows[static_cast<std::size_t>(stage)].transfer, stage - 3);
  }
}

TEST(Table1, ALagOfFourStagesBetweenProcesses) {
  // Two processes in step: the second one receives a slice four stages after the first one received it.
  dsea::sim::LockstepRing ring(Schedule({{1, 1}}, std::nullopt, 2, 2), 10, 2, 1, false, {{10, 10}, {10, 10}});
  std::vector<int> first(10, 0), second(10, 0);
  for (int stage = 1; ring.stage(); ++stage) {
    if (ring.record(0).received >= 0) first[static_cast<std::size_t>(ring.record(0).received)] = stage;
    if (ring.record(1).received >= 0) second[static_cast<std::size_t>(ring.record(1).received)] = stage;
  }
  EXPECT_TRUE(ring.done());
  for (std::size_t s = 0; s < 10; ++s) EXPECT_EQ(second[s] - first[s], 4) << s;
}

}  // namespace
