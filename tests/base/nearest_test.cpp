#include "dsea/base/nearest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dsea {
namespace {

TEST(EditDistance, CountsSingleSteps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("cutof", "cutoff"), 1u);
  EXPECT_EQ(edit_distance("cutxff", "cutoff"), 1u);
  EXPECT_EQ(edit_distance("ctuoff", "cutoff"), 1u);
  EXPECT_EQ(edit_distance("CutOff", "cutoff"), 0u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
}

TEST(Nearest, IsOnlyALikelyOne) {
  const std::vector<std::string> words = {"sigma", "cutoff", "cutoff2", "dt"};
  EXPECT_EQ(nearest("cutof", words), "cutoff");
  EXPECT_EQ(nearest("cutofff", words), "cutoff");
  EXPECT_EQ(nearest("cutoff3", words), "cutoff");
  EXPECT_EQ(nearest("Sigma", words), "sigma");
  EXPECT_EQ(nearest("td", words), "dt");
  EXPECT_EQ(nearest("width", words), "");
  EXPECT_EQ(nearest("x", words), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace dsea
