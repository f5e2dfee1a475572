#include "ring/synthetic.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "dsea/ring/topology.hpp"
#include "dsea/slice/digest.hpp"

namespace synthetic {

void Program::misbehave(dsea::Stage& s) const {
  const auto nap = [](std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
  if (throw_at_ >= 0 && s.step() == throw_at_ && s.slab() == 2) {
    if (throw_number_) throw 42;  // NOLINT: as a careless worker may
    throw dsea::RunError("made to fail");
  }
  if (hang_at_ >= 0 && s.step() == hang_at_ && s.slab() == 2) {
    for (;;) nap(1000);
  }
  if (sleep_ms_ > 0 && (sleep_position_ < 0 || sleep_position_ == s.position())) nap(sleep_ms_);
}

Gather Sweep::gather(std::size_t kind, std::int64_t step, int slab, int in, bool with_grid, double feedback) const {
  const dsea::Topology topology(static_cast<int>(shape_.slabs), shape_.periodic);
  Gather g;
  g.seed = seed_of(static_cast<int>(kind), step, slab, feedback);
  for (int d = -in; d <= in; ++d) {
    const auto n = topology.neighbour(slab, d);
    Words& w = g.inputs[static_cast<std::size_t>(g.n++)];
    if (!n) continue;
    const auto i = static_cast<std::size_t>(n.slab);
    counts_[i] = static_cast<std::int64_t>(list[i].size());
    w = {list[i].data(), &counts_[i], with_grid ? grid[i].data() : nullptr, n.shift};
  }
  return g;
}

Sweep::Sweep(const Shape& shape, std::int64_t steps, std::int64_t feedback_delay) : shape_(shape) {
  const auto n = static_cast<std::size_t>(shape.slabs);
  const dsea::Topology topology(static_cast<int>(n), shape.periodic);
  counts_.resize(n);
  list.resize(n);
  grid.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int slab = static_cast<int>(i);
    for (std::int64_t j = 0; j < Program::start_count(slab); ++j) list[i].push_back(Program::start_word(slab, j));
    for (int j = 0; j < grid_words; ++j) grid[i][static_cast<std::size_t>(j)] = Program::start_word(slab, 100 + j);
  }
  const auto made = [](Word h, int most) {
    std::vector<Word> words;
    for (std::int64_t j = 0; j < made_count(h, most); ++j) words.push_back(made_word(h, j));
    return words;
  };
  const std::int64_t passes = steps + (shape.finish ? 1 : 0);
  for (std::int64_t step = 0; step < passes; ++step) {
    const bool finishing = step == steps;
    const std::size_t kinds = shape.kinds_a_step();
    const std::size_t first = finishing ? 0 : static_cast<std::size_t>(step % shape.program_steps) * kinds;
    for (std::size_t k = first; k < first + (finishing ? 1 : kinds); ++k) {
      const int in = static_cast<int>(shape.in[k]), out = finishing ? 0 : static_cast<int>(shape.out[k]);
      const std::size_t kind = finishing ? shape.in.size() : k;
      const bool with_grid = finishing || k % 2 == 0;
      double feedback = 0;
      if (k == first && shape.feedback && !finishing) {
        feedback = step < feedback_delay ? 42 : low[static_cast<std::size_t>(step - feedback_delay)];
      }
      double lowest = std::numeric_limits<double>::infinity();
      auto new_list = list;
      auto new_grid = grid;
      std::vector<std::map<int, std::vector<Word>>> parts(n);  // by offset of the source
      for (std::size_t i = 0; i < n; ++i) {
        const int slab = static_cast<int>(i);
        const Gather g = gather(kind, step, slab, in, with_grid, feedback);
        // With contributions the grid and the observable come from the part for the slab itself.
        Gather own = g;
        if (out > 0) own.seed = hash_combine(g.seed, 50);
        const Word h = own();
        lowest = std::min(lowest, observed(h));
        for (int j = 0; with_grid && !finishing && !shape.keep && j < grid_words; ++j) {
          new_grid[i][static_cast<std::size_t>(j)] = made_word(h, 100 + j);
        }
        if (out == 0) {
          new_list[i] = made(h, most_words);
          continue;
        }
        for (int d = -out; d <= out; ++d) {
          const auto target = topology.neighbour(slab, d);
          if (!target) continue;
          Gather part = g;
          part.seed = hash_combine(g.seed, static_cast<Word>(d + 50));
          parts[static_cast<std::size_t>(target.slab)][-d] = made(part(), 3);
        }
      }
      for (std::size_t i = 0; out > 0 && i < n; ++i) {
        Gather g;
        g.seed = 5;
        std::array<std::int64_t, 2 * reach + 1> counts{};
        for (int d = -out; d <= out; ++d) {
          const auto at = static_cast<std::size_t>(g.n++);
          const auto part = parts[i].find(d);
          if (part == parts[i].end()) continue;
          counts[at] = static_cast<std::int64_t>(part->second.size());
          g.inputs[at] = {part->second.data(), &counts[at], nullptr, 0};
        }
        new_list[i] = made(g(), most_words);
      }
      list = new_list;
      grid = new_grid;
      if (k == first) low.push_back(lowest);
    }
  }
}

std::uint64_t Sweep::digest() const {
  dsea::SliceLayout layout;
  layout.list<Word>("list", most_words);
  layout.grid<Word>("grid", grid_words);
  if (shape_.keep) layout.list<Word>("kept", most_words);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto words = list[i];
    auto cells = grid[i];
    std::int64_t count = static_cast<std::int64_t>(words.size()), fixed = grid_words;
    std::int64_t kept = Program::kept_count(static_cast<int>(i));
    std::array<Word, most_words> kept_words{};
    for (std::int64_t j = 0; j < kept; ++j) {
      kept_words[static_cast<std::size_t>(j)] = Program::start_word(static_cast<int>(i), 200 + j);
    }
    const dsea::RawField fields[] = {
        {words.data(), &count, most_words}, {cells.data(), &fixed, grid_words}, {kept_words.data(), &kept, most_words}};
    sum += dsea::slab_digest(layout, static_cast<int>(i), fields);
  }
  return sum;
}

}  // namespace synthetic
