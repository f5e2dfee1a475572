// Problem::check(): what a program says about itself that cannot be true.
#include "dsea/ring/program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "dsea/base/error.hpp"
#include "dsea/ring/contributions.hpp"
#include "dsea/ring/scratch_size.hpp"
#include "dsea/ring/stage.hpp"
#include "dsea/ring/stage_context.hpp"

namespace {

using namespace dsea;

struct Fixture {
  Problem p;
  Field<double> a, b;
  Field<int> side;
  Observable o;
  Feed<float> feed;

  Fixture() {
    p.slabs = 4;
    a = p.layout.list<double>("a", 10);
    b = p.layout.grid<double>("b", 10);
    side = p.layout.side_list<int>("side", 10);
    o = p.observable("energy");
    feed = p.feed<float>("wind", 8);
    p.columns = {"energy"};
    p.kinds = {Kind("spread", 1, 1).contributes(a, 5).reads(b).observes(o),
               Kind("move", 7, 0).carries(a).takes(feed).feeds_back(o)};
    p.finish = Kind("kick", 1, 0).observes(o);
  }
};

std::string refusal(const std::function<void(Fixture&)>& change) {
  Fixture f;
  change(f);
  try {
    f.p.check();
  } catch (const UsageError& e) {
    return e.what();
  }
  return "not refused";
}

TEST(ProblemCheck, AGoodOnePasses) {
  EXPECT_EQ(refusal([](Fixture&) {}), "not refused");
  EXPECT_EQ(refusal([](Fixture& f) {  // the least there can be
              Problem least;
              least.slabs = 1;
              least.layout.grid<int>("x", 1);
              least.kinds = {Kind("k", 0, 0)};
              f.p = least;
            }),
            "not refused");
}

TEST(ProblemCheck, EveryMistakeHasItsText) {
  struct Case {
    std::function<void(Fixture&)> change;
    const char* text;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Case> cases = {
      {[](Fixture& f) { f.p.slabs = 0; }, "0 slabs"},
      {[](Fixture& f) { f.p.dt = INFINITY; }, "dt is inf"},
      {[&](Fixture& f) { f.p.dt = nan; }, "dt is"},
      {[](Fixture& f) { f.p.elements = -1; }, "elements is -1"},
      {[](Fixture& f) { f.p.side_every = -1; }, "side_every"},
      {[](Fixture& f) { f.p.layout = {}; }, "no field"},
      {[](Fixture& f) {
         f.p.layout = {};
         f.p.layout.side_list<int>("s", 1);
       },
       "side fields only"},
      {[](Fixture& f) { f.p.kinds.clear(); }, "no kind"},
      {[](Fixture& f) { f.p.kinds[0].name = ""; }, "has no name"},
      {[](Fixture& f) { f.p.kinds[1].in = 8; }, "kind 'move' reads 8 slabs"},
      {[](Fixture& f) { f.p.kinds[1].in = -1; }, "kind 'move' reads -1 slabs"},
      {[](Fixture& f) { f.p.kinds[0].out = 8; }, "kind 'spread' writes 8 slabs"},
      {[](Fixture& f) { f.p.kinds[0].out = 0; }, "let out be at least 1"},
      {[](Fixture& f) { f.p.kinds[1].out = 1; }, "contributes to no field"},
      {[](Fixture& f) { f.p.kinds[0].reads(f.a); }, "says twice what it does with field 'a'"},
      {[](Fixture& f) { f.p.kinds[1].reads(Field<int>{7}); }, "names field 7, but the layout has 3 fields"},
      {[](Fixture& f) { f.p.kinds[1].carries(Field<int>{}); }, "names field -1"},
      {[](Fixture& f) { f.p.kinds[0].contributes(f.side); }, "side field 'side'"},
      {[](Fixture& f) { f.p.kinds[0].contributions[0].away = -3; }, "have -3 elements"},
      {[](Fixture& f) { f.p.kinds[0].observes(f.o); }, "observes observable 'energy' twice"},
      {[](Fixture& f) { f.p.kinds[1].observes(f.o); }, "both report observable 'energy'"},
      {[](Fixture& f) { f.p.kinds[1].observes(Observable{3}); }, "observes observable 3, which"},
      {[](Fixture& f) { f.p.kinds[1].feeds_back(Observable{-1}); }, "feeds back observable -1, which"},
      {[](Fixture& f) { f.p.kinds[1].feeds_back(f.o); }, "feeds back observable 'energy' twice"},
      {[](Fixture& f) { f.p.kinds[1].feeds_back(f.p.observable("lost")); }, "'lost', which no kind reports"},
      {[](Fixture& f) {  // the closing pass reports too late for anybody to ask
         const Observable late = f.p.observable("late");
         f.p.finish->observes(late);
         f.p.kinds[1].feeds_back(late);
       },
       "'late', which no kind reports"},
      {[](Fixture& f) { f.p.kinds[1].takes(Feed<int>{4}); }, "takes feed 4"},
      {[](Fixture& f) { f.p.kinds[1].takes(f.feed); }, "takes feed 'wind' twice"},
      {[](Fixture& f) { f.p.observable("energy"); }, "two observables are called 'energy'"},
      {[](Fixture& f) { f.p.observable(""); }, "observable 1 has no name"},
      {[&](Fixture& f) { f.p.observable("x", ReduceOp::min, nan); }, "'x' starts with a value that is not a number"},
      {[](Fixture& f) {
         for (int i = 0; i < 40; ++i) f.p.observable("o" + std::to_string(i));
       },
       "at most 32"},
      {[](Fixture& f) { f.p.feed<int>("wind", 3); }, "two feeds are called 'wind'"},
      {[](Fixture& f) { f.p.feed<int>("rain", 0); }, "feed 'rain' has 0 elements"},
      {[](Fixture& f) { f.p.feed<int>("rain", 1, -1); }, "looks -1 steps ahead"},
      {[](Fixture& f) { f.p.columns.push_back("energy"); }, "two columns are called 'energy'"},
      {[](Fixture& f) { f.p.finish = Kind("kick", 1, 1).contributes(f.a); }, "closing pass 'kick' writes 1"},
      {[](Fixture& f) { f.p.last_snapshot = true; }, "it would be empty"},
      {[](Fixture& f) {
         f.p.last_snapshot = true;
         f.p.finish.reset();
       },
       "a snapshot of the last step needs a closing pass"},
      {[](Fixture& f) { f.p.program_steps = 5; }, "kinds for 5 steps: every step needs as many"},
      {[](Fixture& f) { f.p.program_steps = 0; }, "kinds for 0 steps"},
      {[](Fixture& f) {  // the second step's kind does not report
         f.p.program_steps = static_cast<int>(f.p.kinds.size());
       },
       "steps of the program: report it in each, or in none"},
      {[](Fixture& f) { f.p.finish->in = 9; }, "kind 'kick' reads 9"},
      {[](Fixture& f) { f.p.finish->feeds_back(f.p.observable("lost")); }, "kind 'kick' asks for"},
  };
  for (const Case& c : cases) {
    const std::string text = refusal(c.change);
    EXPECT_NE(text.find(c.text), std::string::npos) << "expected: " << c.text << "\nsaid: " << text;
  }
}

TEST(Contributions, AnOverflowSaysWhatToRaise) {
  Fixture f;
  const auto text = [&f] {
    const Contributions contributions(Device::open({.backend = "host"}), f.p.layout, {&f.p.kinds[0]}, 1, 1);
    std::vector<std::int64_t> counts(contributions.counts(), 0);
    contributions.check_counts(counts.data(), 2, 7);
    counts.front() = 6;  // of the slab at -1, with room for 5
    try {
      contributions.check_counts(counts.data(), 2, 7);
    } catch (const RunError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(text(),
            "slice 2, step 7: the contribution to field 'a' from the slab at offset -1 needs room for 6 elements, but "
            "has 5: raise the capacity in the configuration, or use more slabs");
  f.p.layout.on_overflow("raise system.spare");
  EXPECT_NE(text().find("but has 5: raise system.spare"), std::string::npos) << text();
}

TEST(ScratchSize, AddsUpWhatAStageTakes) {
  struct Odd {
    char c[7];
  };
  EXPECT_EQ(ScratchSize{}.bytes(), 0U);
  const std::size_t bytes = ScratchSize{}.add<Odd>(11).add<double>(8).add<int>(0).add<int>(1).add<Odd>(64).bytes();
  EXPECT_EQ(bytes, 128U + 64 + 0 + 64 + 448);

  Fixture f;
  f.p.scratch_bytes = bytes;
  std::vector<std::byte> memory(bytes);
  StageContext context;
  context.problem = &f.p;
  context.kind = &f.p.kinds[0];
  context.scratch = memory.data();
  context.scratch_size = bytes;
  const Stage stage(context);
  const auto at = [&](const void* part) { return static_cast<const std::byte*>(part) - memory.data(); };
  EXPECT_EQ(at(stage.scratch<Odd>(11)), 0);
  EXPECT_EQ(at(stage.scratch<double>(8)), 128);
  EXPECT_EQ(at(stage.scratch<int>(0)), 192);
  EXPECT_EQ(at(stage.scratch<int>(1)), 192);
  EXPECT_EQ(at(stage.scratch<Odd>(64)), 256);
  EXPECT_THROW(stage.scratch<char>(1), RunError) << "all is used up";
}

}  // namespace
