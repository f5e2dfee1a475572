#include "dsea/app/start_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "dsea/base/text.hpp"

namespace {

using dsea::RankFacts;
using dsea::start_table;

std::vector<RankFacts> alike(std::size_t ranks) {
  return std::vector<RankFacts>(ranks, {"en1", "GPU 0, X", "0000:3b:00.0", "0", "0-7", "ib0:1 active", "mpi", 2e9});
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

TEST(StartTable, HasARowForEachRankWithTheLinkToTheNext) {
  std::vector<RankFacts> ranks = alike(3);
  ranks[1] = {"en2", "host, 2 threads, avx2", "-", "0-1", "0-3,8", "-", "mpi", 5e7};
  ranks[2].from_previous = 0;
  const auto rows = lines(start_table(ranks, 32));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], "rank  host  device                 pci           numa  cores  network cards  transport  to next");
  EXPECT_EQ(rows[1],
            "0     en1   GPU 0, X               0000:3b:00.0  0     0-7    ib0:1 active   mpi        50.0 MB/s");
  EXPECT_EQ(rows[2], "1     en2   host, 2 threads, avx2  -             0-1   0-3,8  -              mpi        -");
  EXPECT_EQ(rows[3],
            "2     en1   GPU 0, X               0000:3b:00.0  0     0-7    ib0:1 active   mpi        2.00 GB/s");
}

TEST(StartTable, OfManyRanksShowsTheFirstAndThoseThatDiffer) {
  std::vector<RankFacts> ranks = alike(100);
  EXPECT_EQ(lines(start_table(ranks, 100)).size(), 101U);
  ranks[40].device = "host, 1 thread";
  ranks[70].cards = "ib0:1 down";
  ranks[81].from_previous = 1e8;
  ranks[90].host = "en9";  // no difference
  const auto rows = lines(start_table(ranks, 32));
  ASSERT_EQ(rows.size(), 1 + 16 + 3 + 1U);
  EXPECT_TRUE(rows[17].starts_with("40 ")) << rows[17];
  EXPECT_TRUE(rows[18].starts_with("70 ")) << rows[18];
  EXPECT_TRUE(rows[19].starts_with("80 ") && rows[19].ends_with("100 MB/s")) << rows[19];
  EXPECT_EQ(rows[20], "... 81 more, all with rank 0's device and network cards");
}

TEST(StartTable, ShowsAFewOfManyThatDiffer) {
  std::vector<RankFacts> ranks = alike(100);
  for (std::size_t r = 50; r < 100; ++r) ranks[r].device = "other";
  ranks[0].from_previous = 1e9;  // the slowest link is that of rank 99
  const auto rows = lines(start_table(ranks, 32));
  ASSERT_EQ(rows.size(), 1 + 16 + 17 + 1U);
  EXPECT_EQ(rows.back(), "... 67 more, 33 of them with other devices or network cards than rank 0");
}

TEST(SlowestLink, IsTheOneOfTheRankBefore) {
  std::vector<RankFacts> ranks = alike(3);
  ranks[0].from_previous = 1e9;
  EXPECT_EQ(dsea::slowest_link(ranks).from, 2);
  EXPECT_EQ(dsea::slowest_link(ranks).bytes_per_second, 1e9);
  ranks[2].from_previous = 1e8;
  EXPECT_EQ(dsea::slowest_link(ranks).from, 1);
}

TEST(SlowestLink, IsWarnedOfWhereItHoldsTheWorkersUp) {
  dsea::Problem problem;
  problem.slabs = 100;
  problem.layout.grid<double>("T", 1'000'000);
  problem.kinds.emplace_back("step", 1, 0);
  problem.elements = 100'000'000;
  problem.element_name = "cells";
  dsea::PlanRequest request;
  request.steps = 10;
  request.processes = 2;
  request.workers = 2;
  request.rate = 1e8;
  const dsea::RingPlan plan(problem, request);  // 20 ms of work, 8 MB on the wire
  EXPECT_EQ(link_warning({1, 1e9}, plan), "");
  EXPECT_EQ(link_warning({1, 0}, plan), "") << "not measured";
  const std::string text = link_warning({1, 1e8}, plan);
  EXPECT_NE(text.find("7.63 MiB takes 80.0 ms over it, and 2 workers of a rank an expected 20.0 ms"), std::string::npos)
      << text;
}

}  // namespace
