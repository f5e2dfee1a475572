#include "dsea/app/all_ranks.hpp"

#include <gtest/gtest.h>

#include "dsea/base/packed_texts.hpp"

namespace {

using dsea::difference_of_ranks;
using dsea::Trait;

const std::vector<Trait> traits{{"is the program", "", "fix program"}, {"runs", "", "fix build"}, {"has", "", "fix"}};

TEST(Ranks, ThatAreTheSameDoNotDiffer) {
  EXPECT_EQ(difference_of_ranks(traits, {{"a", "heat", "1", "x"}, {"b", "heat", "1", "x"}}), "");
}

TEST(Ranks, ThatDifferAreNamedWithBothValues) {
  EXPECT_EQ(difference_of_ranks(traits, {{"en1", "heat", "DSEA 1 (abc)", "x"},
                                         {"en1", "heat", "DSEA 1 (abc)", "y"},
                                         {"en3", "heat", "DSEA 1 (def)", "x"}}),
            "rank 2 on en3 runs DSEA 1 (def); rank 0 on en1 runs DSEA 1 (abc): fix build");
  EXPECT_EQ(difference_of_ranks(traits, {{"a", "heat", "1", "x"}, {"b", "ljmd", "2", "y"}, {"c", "ljmd", "1", "x"}}),
            "rank 1 on b, like 1 other, is the program ljmd; rank 0 on a is the program heat: fix program");
}

TEST(Ranks, AConfigurationIsComparedLineByLine) {
  const std::string one = "[run]\nsteps = 1\n[ring]\nworkers = 2\n";
  const auto text = [&](const std::string& other) {
    return difference_of_ranks(traits, {{"a", "p", "1", one}, {"b", "p", "1", other}});
  };
  EXPECT_EQ(text("[run]\nsteps = 1\n[ring]\nworkers = 3\n"),
            "rank 1 on b has [ring] workers = 3; rank 0 on a has [ring] workers = 2: fix");
  EXPECT_EQ(text("[run]\nsteps = 1\n"), "rank 1 on b has nothing; rank 0 on a has [ring]: fix");
  EXPECT_EQ(text(one + "depth = 1\n"), "rank 1 on b has [ring] depth = 1; rank 0 on a has nothing: fix");
}

TEST(Ranks, OfAVersionWithOtherTraitsAreSeen) {
  EXPECT_NE(difference_of_ranks(traits, {{"a", "p", "1", "x"}, {"b", "p"}}).find("rank 1 is another version"),
            std::string::npos);
}

TEST(PackedTexts, ComeBack) {
  const std::vector<std::string> texts{"", "a\nb", std::string("\0x", 2), ""};
  EXPECT_EQ(dsea::unpack_texts(dsea::pack_texts(texts)), texts);
  EXPECT_TRUE(dsea::unpack_texts({}).empty());
  auto bytes = dsea::pack_texts(texts);
  bytes.resize(bytes.size() - 9);  // into the third text
  EXPECT_EQ(dsea::unpack_texts(bytes).size(), 2U);
}

}  // namespace
