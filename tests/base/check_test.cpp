#include "dsea/base/check.hpp"

#include <gtest/gtest.h>

#include "base/error_text.hpp"
#include "dsea/base/error.hpp"

namespace dsea {
namespace {

/// The message without the line: "check_test.cpp:12: check failed: ..." -> "check failed: ...".
template <class F>
std::string run_text(F&& run) {
  const std::string text = test::error_text<RunError>(run);
  const std::size_t found = text.find("check failed");
  return found == std::string::npos ? text : text.substr(found);
}

TEST(Check, SaysWhereAndWhat) {
  const auto fail = [] { DSEA_CHECK(1 + 1 == 3); };
  EXPECT_EQ(test::error_text<RunError>(fail), cat("check_test.cpp:", __LINE__ - 1, ": check failed: 1 + 1 == 3"));
  EXPECT_EQ(run_text([] { DSEA_CHECK(false, "slot ", 3); }), "check failed: false: slot 3");
  EXPECT_EQ(run_text([] { DSEA_CHECK(true, "slot ", 3); }), "<no exception>");
}

TEST(Check, ComparesAndPrintsOperands) {
  const int three = 3;
  EXPECT_EQ(run_text([&] { DSEA_CHECK_EQ(three, 4); }), "check failed: three == 4 (3 and 4)");
  EXPECT_EQ(run_text([&] { DSEA_CHECK_LT(three, 3, "out of ", "order"); }),
            "check failed: three < 3 (3 and 3): out of order");
  EXPECT_EQ(run_text([&] { DSEA_CHECK_LE(three, 2.5); }), "check failed: three <= 2.5 (3 and 2.5)");
  EXPECT_EQ(run_text([&] {
              DSEA_CHECK_EQ(three, 3);
              DSEA_CHECK_LT(three, 4, "x");
              DSEA_CHECK_LE(three, 3);
              DSEA_CHECK_EQ(std::string("a"), "a");
            }),
            "<no exception>");
}

TEST(Check, ComparesIntegersByValue) {
  EXPECT_EQ(run_text([] {
              DSEA_CHECK_LT(-1, 1u);
              DSEA_CHECK_LE(-1, std::size_t{0});
              DSEA_CHECK_EQ(5, std::size_t{5});
            }),
            "<no exception>");
  EXPECT_NE(run_text([] { DSEA_CHECK_EQ(-1, ~0u); }), "<no exception>");
}

TEST(Check, EvaluatesOperandsOnceAndTextsOnlyOnFailure) {
  int operands = 0, texts = 0;
  const auto text = [&] {
    ++texts;
    return "text";
  };
  DSEA_CHECK_EQ(++operands, 1, text());
  DSEA_CHECK(++operands == 2, text());
  EXPECT_EQ(operands, 2);
  EXPECT_EQ(texts, 0);
  if (operands == 2)
    DSEA_CHECK(true);
  else
    ADD_FAILURE() << "a check is one statement";
}

}  // namespace
}  // namespace dsea
