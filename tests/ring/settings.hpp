// Settings of a ring for tests, and a cover of all pairs of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ring/synthetic.hpp"
#include "support/pairwise.hpp"

namespace synthetic {

struct Setting {
  int ranks = 1;
  int workers = 1;
  std::string slots = "auto";  // "auto", "fewest", a number
  int threads = 1;
  int streams = 0;  // 0: in the caller, 1: async, 2: async with delays
  int depth = 1;
  std::int64_t steps = 7;

  /// The framework's sections; a program's own come behind.
  std::string toml() const {
    const std::string quoted = slots == "auto" || slots == "fewest" ? "\"" + slots + "\"" : slots;
    return dsea::cat("[run]\nsteps = ", steps, "\nfeedback_delay = 40\n[ring]\nworkers = ", workers,
                     "\nslots = ", quoted, "\ndepth = ", depth, "\nasync_streams = ", streams > 0 ? "true" : "false",
                     "\ndelay_seed = ", streams > 1 ? 7 : 0, "\nwatchdog = 60\n[output]\nthermo_every = 1\n");
  }
};

/// A pairwise cover: each value of each setting meets each value of each other setting in some run. `ranks`: 1..ranks,
/// or only that number if it is negative. Deterministic.
inline std::vector<Setting> cover(int ranks = 5, std::array<std::int64_t, 3> steps = {1, 7, 20}) {
  const std::array<std::string, 3> slots{"auto", "fewest", "40"};
  std::vector<Setting> all;
  const int most_ranks = ranks < 0 ? 1 : ranks;
  // ranks, workers, slots, threads, streams, depth, steps
  for (const std::vector<int>& best : dsea::test::pairwise({most_ranks, 8, 3, 2, 3, 3, 3})) {
    Setting s;
    s.ranks = ranks < 0 ? -ranks : best[0] + 1;
    s.workers = best[1] + 1;
    s.slots = slots[static_cast<std::size_t>(best[2])];
    s.threads = best[3] + 1;
    s.streams = best[4];
    s.depth = best[5] + 1;
    s.steps = steps[static_cast<std::size_t>(best[6])];
    all.push_back(s);
  }
  return all;
}

/// Open and folded, odd and even, one and two slabs, one and several kinds, one and several steps, with and without
/// contributions.
inline std::vector<Shape> shapes() {
  std::vector<Shape> all(8);
  all[0] = {.slabs = 9, .periodic = false, .in = {1}, .out = {0}};
  all[1] = {.slabs = 13, .periodic = true, .in = {1}, .out = {1}, .side = true};
  all[2] = {.slabs = 12, .periodic = false, .in = {2, 1, 1}, .out = {1, 0, 1}, .finish = true};
  all[3] = {.slabs = 1, .periodic = true, .in = {1}, .out = {1}};
  all[4] = {.slabs = 2, .periodic = true, .in = {2}, .out = {2}, .finish = false};
  all[5] = {.slabs = 17, .periodic = true, .in = {2, 4, 1}, .out = {1, 0, 1}, .side = true};
  all[7] = {.slabs = 10, .periodic = true, .in = {1, 2, 1, 1}, .out = {0, 0, 0, 1}, .program_steps = 2};
  all[6] = {.slabs = 5, .periodic = false, .in = {0, 3}, .out = {2, 0}, .finish = false};
  return all;
}

}  // namespace synthetic
