#include "dsea/app/rank_place.hpp"

#include <gtest/gtest.h>

namespace {

using dsea::gpu_of_rank;
using dsea::gpu_rule;
using dsea::RankPlace;
using dsea::shared_gpu;

using Gpus = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(RankPlace, RanksThatSeeAllGpusOfANodeTakeThemInTurn) {
  const Gpus all{"0000:3a:00.0", "0000:3b:00.0"};
  const std::vector<RankPlace> ranks{{"a", 0, {0}, all}, {"a", 1, {0}, all}, {"b", 0, {0}, all}, {"b", 1, {0}, all}};
  EXPECT_EQ(gpu_of_rank(ranks, 0), 0);
  EXPECT_EQ(gpu_of_rank(ranks, 1), 1);
  EXPECT_EQ(gpu_of_rank(ranks, 2), 0);
  EXPECT_EQ(gpu_of_rank(ranks, 3), 1);
  EXPECT_EQ(shared_gpu(ranks).who, "");
  EXPECT_TRUE(contains(gpu_rule(ranks), "its place among the ranks of the node")) << gpu_rule(ranks);
}

TEST(RankPlace, RanksThatWereGivenTheirOwnTakeTheFirst) {
  const std::vector<RankPlace> ranks{{"a", 0, {0}, {"g0", "g1"}}, {"a", 1, {0}, {"g1", "g0"}}};  // rotated
  EXPECT_EQ(gpu_of_rank(ranks, 0), 0);
  EXPECT_EQ(gpu_of_rank(ranks, 1), 0);
  EXPECT_EQ(shared_gpu(ranks).who, "");
  EXPECT_TRUE(contains(gpu_rule(ranks), "the first it sees")) << gpu_rule(ranks);
  const std::vector<RankPlace> bound{{"a", 0, {0}, {"g0"}}, {"a", 1, {0}, {"g1"}}};
  EXPECT_EQ(gpu_of_rank(bound, 1), 0);
  EXPECT_EQ(gpu_rule(bound), "");
}

TEST(RankPlace, TwoRanksOnOneGpuAreNamedWithWhatToDo) {
  const std::vector<RankPlace> ranks{
      {"a", 0, {0}, {"g0"}}, {"b", 0, {0}, {"g0"}}, {"b", 1, {0}, {"g0"}}, {"b", 2, {0}, {"g0"}}};
  EXPECT_EQ(shared_gpu(ranks).who, "ranks 1, 2 and 3 take the same GPU, g0 of b (rank 1 sees 1 GPU)");
  const std::string text = shared_gpu(ranks).fix;
  for (const char* fix : {"srun --gpus-per-task=1", "CUDA_VISIBLE_DEVICES", "binding script", "ring.share_gpu=true"}) {
    EXPECT_TRUE(contains(text, fix)) << text;
  }
  EXPECT_EQ(shared_gpu({{"a", 0, {0}, {"g0", "g1"}}, {"a", 1, {0}, {"g0", "g1"}}, {"a", 2, {0}, {"g0", "g1"}}}).who,
            "ranks 0 and 2 take the same GPU, g0 of a (rank 0 sees 2 GPUs)");
}

TEST(RankPlace, RanksOnTheHostShareNoGpu) {
  EXPECT_EQ(shared_gpu({{"a", 0, {0}, {}}, {"a", 1, {0}, {}}}).who, "");
  EXPECT_EQ(gpu_rule({{"a", 0, {0}, {}}}), "");
}

TEST(RankPlace, RanksOnTheSameProcessorsAreCounted) {
  const std::vector<RankPlace> ranks{
      {"a", 0, {0, 1}, {}}, {"a", 1, {2, 3}, {}}, {"b", 0, {0, 1}, {}}, {"a", 2, {3, 4}, {}}};
  EXPECT_EQ(ranks_on_processors(ranks, 0), 1);
  EXPECT_EQ(ranks_on_processors(ranks, 1), 2);
  EXPECT_EQ(ranks_on_processors(ranks, 2), 1);
}

}  // namespace
