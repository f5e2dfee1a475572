// Random programs through random rings in random order against sweeps over the whole data set.
#include <gtest/gtest.h>

#include "ring/plan_helpers.hpp"
#include "ring/simulated_ring.hpp"

namespace {

using namespace dsea;
using namespace dsea::sim;

struct Counts {
  int programs = 0, folded = 0, mixed = 0, closing = 0, fed = 0, deep = 0, small = 0, unaligned = 0, several_steps = 0,
      ahead = 0;
};

/// One random program through one random ring; everything follows from the seed.
void try_one(std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  SimProgram program = random_program(random, 7, 30, 20);
  SimRing ring;
  ring.processes = pick(1, 5);
  ring.workers = pick(1, 8);
  ring.depth = pick(1, 3);
  ring.obedient = pick(0, 7) == 0;
  const int positions = ring.processes * ring.workers;
  if (pick(0, 1) == 0)
    program.feedback_delay = add_feedback(program, random, positions) + (pick(0, 1) == 0 ? 0 : pick(1, 3));

  PlanRequest request;
  request.steps = program.steps;
  request.processes = ring.processes;
  request.workers = ring.workers;
  request.depth = ring.depth;
  request.feedback_delay = program.feedback_delay;
  request.slots = pick(0, 2) == 0 ? SlotChoice::automatic : SlotChoice::fewest;
  const RingPlan plan(test::problem(program), request);
  ring.slots = test::slots(plan);
  if (pick(0, 3) == 0) {  // and many
    for (auto& rings : ring.slots) {
      for (int& s : rings) s += pick(0, 40);
    }
  }

  SimulatedRing simulated(program, ring, random());
  ASSERT_TRUE(simulated.run()) << "blocked: " << simulated.describe();
  ASSERT_EQ(simulated.result(), brute_force(program)) << simulated.describe();

  ++counts.programs;
  counts.folded += program.periodic;
  counts.mixed += program.kinds.size() > 1;
  counts.closing += program.finish.has_value();
  counts.fed += simulated.result().sums.size() > static_cast<std::size_t>(program.feedback_delay);
  counts.deep += ring.depth > 1;
  counts.small += program.slabs <= 2;
  counts.ahead += simulated.went_ahead() > 0;
  counts.several_steps += program.program_steps > 1;
  counts.unaligned += positions % static_cast<int>(program.kinds.size()) != 0;
}

TEST(BruteForce, ThousandsOfRandomProgramsGiveTheSameBits) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    ASSERT_NO_THROW(try_one(seed, counts)) << "seed " << seed;
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  // The random choices do cover what they are meant to cover.
  EXPECT_GT(counts.folded, 1000);
  EXPECT_GT(counts.mixed, 1000);
  EXPECT_GT(counts.closing, 500);
  EXPECT_GT(counts.fed, 300);
  EXPECT_GT(counts.deep, 1000);
  EXPECT_GT(counts.small, 300);
  EXPECT_GT(counts.unaligned, 500);
  EXPECT_GT(counts.several_steps, 500);
  EXPECT_GT(counts.ahead, 500);
}

TEST(BruteForce, FixedCornersWithEveryOrder) {
  // One to three slabs, open and folded, orders up to 7 on both sides, a single worker and far more than slices.
  std::mt19937_64 random(9);
  for (const bool periodic : {false, true}) {
    for (int slabs = 1; slabs <= 3; ++slabs) {
      for (int in = 0; in <= 7; ++in) {
        for (int out = 0; out <= 7; ++out) {
          SimProgram program;
          program.slabs = slabs;
          program.periodic = periodic;
          program.fields = 2;
          program.steps = 5;
          program.kinds = {{{in, out}, {out > 0 ? Use::contribute : Use::write, Use::read}}};
          program.finish = SimKind{{in, 0}, {Use::write, Use::write}};
          const SimResult expected = brute_force(program);
          for (const auto& [processes, workers] :
               {std::pair{1, 1}, std::pair{2, 1}, std::pair{3, 2}, std::pair{1, 8}}) {
            PlanRequest request;
            request.steps = program.steps;
            request.processes = processes;
            request.workers = workers;
            request.slots = SlotChoice::fewest;
            SimRing ring;
            ring.processes = processes;
            ring.workers = workers;
            ring.slots = test::slots(RingPlan(test::problem(program), request));
            SimulatedRing simulated(program, ring, random());
            ASSERT_TRUE(simulated.run()) << simulated.describe();
            ASSERT_EQ(simulated.result(), expected) << simulated.describe();
          }
        }
      }
    }
  }
}

TEST(BruteForce, TheHashSeesOrderShiftsAndPlaces) {
  SimProgram program;
  program.slabs = 6;
  program.steps = 2;
  program.kinds = {{{1, 1}, {Use::contribute}}};
  const SimResult open = brute_force(program);
  program.periodic = true;
  const SimResult folded = brute_force(program);
  EXPECT_NE(open.slabs[0], folded.slabs[0]);
  EXPECT_NE(open.slabs[5], folded.slabs[5]);
  EXPECT_EQ(open.slabs[3].size(), 1U);
  program.kinds[0].order = {1, 2};
  EXPECT_NE(brute_force(program), folded);
  program.kinds[0].order = {2, 1};
  EXPECT_NE(brute_force(program), folded);
}

}  // namespace
