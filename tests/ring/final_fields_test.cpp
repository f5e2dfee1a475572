#include "dsea/ring/final_fields.hpp"

#include <gtest/gtest.h>

#include "dsea/ring/ring_plan.hpp"
#include "dsea/slice/header.hpp"

namespace {

using namespace dsea;

struct Fixture {
  Problem p;
  Field<double> made, kept, looked_at, side;
  explicit Fixture(std::int64_t cells) {
    p.slabs = 40;
    made = p.layout.list<double>("made", 800);
    kept = p.layout.grid<double>("kept", cells);
    looked_at = p.layout.list<double>("looked at", cells);
    side = p.layout.side_list<double>("side", 10'000);
    p.kinds = {Kind("scatter", 1, 1).contributes(made).carries(kept).reads(looked_at, side), Kind("write", 1, 0)};
    p.finish = Kind("look", 0).reads(made, kept, looked_at);
  }
};

TEST(FinalFields, AreThoseThatAreHandedOnAndTravel) {
  const Fixture f(200);
  EXPECT_EQ(travelling_fields(f.p.layout), bit_of(f.made.index) | bit_of(f.kept.index) | bit_of(f.looked_at.index));
  const FieldMask handed_on = bit_of(f.kept.index) | bit_of(f.looked_at.index);
  EXPECT_EQ(final_fields(f.p.layout, f.p.kinds[0]), handed_on);
  EXPECT_EQ(bytes_of(f.p.layout, handed_on), 3200U);
  EXPECT_EQ(final_fields(f.p.layout, f.p.kinds[1]), 0U);
}

TEST(FinalFields, FollowTheSchedule) {
  const Fixture f(200);
  const Schedule schedule = make_schedule(f.p, 3, 4);
  EXPECT_EQ(final_fields(f.p, schedule, -1), 0U) << "what is loaded";
  EXPECT_EQ(final_fields(f.p, schedule, 0), final_fields(f.p.layout, f.p.kinds[0]));
  EXPECT_EQ(final_fields(f.p, schedule, 1), 0U);
  EXPECT_EQ(final_fields(f.p, schedule, 4), final_fields(f.p.layout, f.p.kinds[0]));
  EXPECT_EQ(final_fields(f.p, schedule, 6), travelling_fields(f.p.layout)) << "the closing pass";
  EXPECT_EQ(final_fields(f.p, schedule, 7), 0U) << "past the end";
}

TEST(FinalFields, AFewBytesAreNotWorthTheMessages) {
  EXPECT_EQ(final_fields(Fixture(133).p.layout, Fixture(133).p.kinds[0]), 0U);  // 2 x 133 of 1066
  EXPECT_NE(final_fields(Fixture(134).p.layout, Fixture(134).p.kinds[0]), 0U);  // 2 x 134 of 1068
}

TEST(FinalFields, ShortenTheLagThatThePlanExpects) {
  const Fixture f(4000);
  PlanRequest request;
  request.steps = 100;
  request.processes = 3;
  const double share = 2 * 8 * 4000 / (sizeof(SliceHeader) + 8.0 * 8800);
  // Every second process ends with the kind that hands fields on.
  EXPECT_DOUBLE_EQ(RingPlan(f.p, request).scaling().lag(), 2 + 1.5 - share / 2);
  EXPECT_NE(RingPlan(f.p, request).text().find("3.0 and not 3.5, for fields that are final early go ahead"),
            std::string::npos)
      << RingPlan(f.p, request).text();
  // With two workers all of them end with the kind that writes everything.
  request.workers = 2;
  EXPECT_DOUBLE_EQ(RingPlan(f.p, request).scaling().lag(), 2 + 3);
  EXPECT_EQ(RingPlan(f.p, request).text().find("final early"), std::string::npos);
  // With three every second one does; who takes turns begins a third of a stage, and `out` more, before the slice is
  // complete.
  request.workers = 3;
  EXPECT_DOUBLE_EQ(RingPlan(f.p, request).scaling().lag(), 2 + 4.5 - share / 2);
  Problem nothing_scattered = f.p;
  nothing_scattered.kinds[0] = Kind("write", 1, 0).carries(f.kept, f.looked_at);
  EXPECT_DOUBLE_EQ(RingPlan(nothing_scattered, request).scaling().lag(), 2 + 3 - 1.0 / 3 / 2);
  request.at_once = true;
  EXPECT_DOUBLE_EQ(RingPlan(nothing_scattered, request).scaling().lag(), 1 + 3 + 3 - share / 2);
}

}  // namespace
