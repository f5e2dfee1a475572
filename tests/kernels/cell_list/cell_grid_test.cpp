#include "kernels/cell_list/cell_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dsea/base/error.hpp"
#include "kernels/cell_list/molecules.hpp"

namespace dsea::md {
namespace {

TEST(Axis, HasAsManyPartsAsFit) {
  EXPECT_EQ(make_axis(0, 7.5, true, 2.5, 2.5, "x").parts, 3);
  EXPECT_EQ(make_axis(0, std::nextafter(7.5, 0), true, 2.5, 2.5, "x").parts, 2);
  EXPECT_EQ(make_axis(0, 2.501, true, 2.5, 2.5, "x").parts, 1);
  EXPECT_THROW(make_axis(0, 2.5, true, 2.5, 2.5, "x"), UsageError);
  EXPECT_EQ(make_axis(0, 0.1, false, 2.5, 2.5, "x").parts, 1);
  EXPECT_EQ(make_axis(0, 7.5, true, 2.5, 2.6, "x").parts, 2);
  for (double length : {0.3, 0.7, 1.1, 12.0, 1e3 / 3}) {
    const Axis axis = make_axis(0, length, true, 0.1, 0.1, "x");
    EXPECT_GE(axis.length, axis.parts * 0.1);
    EXPECT_LT(axis.length, (axis.parts + 2) * 0.1);
  }
}

TEST(Axis, TooShortIsRefusedOnlyIfPeriodic) {
  try {
    make_axis(0, 2.4, true, 2.5, 2.5, "y");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("periodic axis y is 2.3999999999999999 long"), std::string::npos) << e.what();
  }
}

TEST(Axis, PartsDoNotDecreaseAndStayInside) {
  std::mt19937_64 random(1);
  for (int tries = 0; tries < 200; ++tries) {
    const double lo = std::uniform_real_distribution<double>(-5, 5)(random);
    const double hi = lo + std::uniform_real_distribution<double>(1, 20)(random);
    const Axis axis = make_axis(lo, hi, true, 1, 1, "x");
    EXPECT_EQ(axis.part(lo), 0);
    EXPECT_EQ(axis.part(std::nextafter(hi, lo)), axis.parts - 1);
    EXPECT_EQ(axis.part(hi), axis.parts - 1);  // a mirror
    int last = 0;
    for (int i = 0; i <= 1000; ++i) {
      const int part = axis.part(lo + (hi - lo) * i / 1001);
      EXPECT_GE(part, last);
      last = part;
    }
  }
}

TEST(Settle, TheSeamHasNoGap) {
  std::mt19937_64 random(2);
  for (int tries = 0; tries < 1000; ++tries) {
    const double lo = tries == 0 ? 0 : std::uniform_real_distribution<double>(-5, 5)(random);
    const double hi = lo + std::uniform_real_distribution<double>(1, 20)(random);
    const Axis axis = make_axis(lo, hi, true, 1, 1, "x");
    for (double start : {lo, hi, std::nextafter(lo, lo - 1), std::nextafter(hi, hi + 1), std::nextafter(hi, lo),
                         lo - 1e-17, lo - 1e-16, lo - 1e-15, hi + 1e-15, lo - 0.1, hi + 0.1}) {
      double x = start, v = 1;
      int boxes = 9;
      ASSERT_TRUE(axis.settle(x, v, boxes));
      EXPECT_GE(x, lo);
      EXPECT_LT(x, hi);
      EXPECT_EQ(v, 1);
      EXPECT_NEAR(x + boxes * axis.length, start, 1e-14);  // the images tell the truth
    }
  }
}

TEST(Settle, JustBelowZeroEndsAtZero) {
  const Axis axis = make_axis(0, 12, true, 2.5, 2.5, "x");
  double x = -1e-17, v = -1;
  int boxes = 9;
  EXPECT_TRUE(axis.settle(x, v, boxes));  // -1e-17 + 12 is 12
  EXPECT_EQ(x, 0);
  EXPECT_EQ(boxes, 0);
}

TEST(Settle, MirrorTurnsTheVelocity) {
  const Axis axis = make_axis(1, 4, false, 1, 1, "x");
  int boxes = 9;
  double x = 0.75, v = -2;
  EXPECT_TRUE(axis.settle(x, v, boxes));
  EXPECT_EQ(x, 1.25);
  EXPECT_EQ(v, 2);
  EXPECT_EQ(boxes, 0);
  x = 4.5, v = 3;
  EXPECT_TRUE(axis.settle(x, v, boxes));
  EXPECT_EQ(x, 3.5);
  EXPECT_EQ(v, -3);
  x = 4, v = 3;  // on the wall is inside
  EXPECT_TRUE(axis.settle(x, v, boxes));
  EXPECT_EQ(x, 4);
  EXPECT_EQ(v, 3);
}

TEST(Settle, TooFarIsSeen) {
  double v = 1;
  int boxes = 0;
  for (bool periodic : {true, false}) {
    const Axis axis = make_axis(0, 4, periodic, 1, 1, "x");
    for (double start : {-4.5, 8.5, 1e300, -1e300}) {
      double x = start;
      EXPECT_FALSE(axis.settle(x, v, boxes)) << start;
    }
  }
}

TEST(Tag, KeepsTypeAndImages) {
  const std::uint64_t tag = make_tag(65535, -1, 32767, -32768);
  EXPECT_EQ(tag_type(tag), 65535);
  EXPECT_EQ(tag_image(tag, 0), -1);
  EXPECT_EQ(tag_image(tag, 1), 32767);
  EXPECT_EQ(tag_image(tag, 2), -32768);
  const std::uint64_t moved = tag_moved(tag, 1, -1, 0);
  EXPECT_EQ(tag_type(moved), 65535);
  EXPECT_EQ(tag_image(moved, 0), 0);
  EXPECT_EQ(tag_image(moved, 1), 32766);
  EXPECT_EQ(tag_image(moved, 2), -32768);
}

}  // namespace
}  // namespace dsea::md
