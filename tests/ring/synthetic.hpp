// A program that computes nothing but hashes, so that any mistake of the ring shows: what a worker makes depends on
// every input, its place, the step and the kind, and on their order. And the same computed by a plain sweep.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "dsea/dsea.hpp"

namespace synthetic {

using Word = std::uint64_t;
using dsea::hash_combine;

inline constexpr int most_words = 6;  // of a slab's list
inline constexpr int grid_words = 4;
inline constexpr int reach = 7;  // largest order

struct Kind {
  int in = 1, out = 0;
};

/// What a test can choose; read from the section [synthetic] by the program, made into TOML by toml().
struct Shape {
  std::int64_t slabs = 8;
  bool periodic = false;
  std::vector<std::int64_t> in{1}, out{0};
  int program_steps = 1;
  bool finish = true;
  bool feedback = false;
  bool side = false;
  bool keep = false;  // no kind writes the grid, and there is a list that none of them looks at

  std::size_t kinds_a_step() const { return in.size() / static_cast<std::size_t>(program_steps); }

  std::string toml() const {
    const auto list = [](const std::vector<std::int64_t>& v) {
      std::string text = "[";
      for (const std::int64_t x : v) text += dsea::cat(x, ", ");
      return text + "]";
    };
    return dsea::cat("[synthetic]\nslabs = ", slabs, "\nperiodic = ", periodic ? "true" : "false", "\nin = ", list(in),
                     "\nout = ", list(out), "\nprogram_steps = ", program_steps,
                     "\nfinish = ", finish ? "true" : "false", "\nfeedback = ", feedback ? "true" : "false",
                     "\nside = ", side ? "true" : "false", "\nkeep = ", keep ? "true" : "false", "\n");
  }
};

/// One slab's words as kernels see them.
struct Words {
  const Word* data = nullptr;
  const std::int64_t* count = nullptr;
  const Word* grid = nullptr;
  std::int64_t shift = 0;

  /// Everything there is to see of a neighbour.
  DSEA_FN Word hash(Word seed) const {
    if (data == nullptr) return hash_combine(seed, 77);
    Word h = hash_combine(seed, static_cast<Word>(*count));
    h = hash_combine(h, static_cast<Word>(shift + 100));
    for (std::int64_t i = 0; i < *count; ++i) h = hash_combine(h, data[i]);
    for (int i = 0; grid != nullptr && i < grid_words; ++i) h = hash_combine(h, grid[i]);
    return h;
  }
};

/// Inputs at d = -in..in, hashed in order.
struct Gather {
  std::array<Words, 2 * reach + 1> inputs{};
  int n = 0;
  Word seed = 0;
  DSEA_FN Word operator()() const {
    Word h = seed;
    for (int i = 0; i < n; ++i) h = inputs[static_cast<std::size_t>(i)].hash(h);
    return h;
  }
};

DSEA_FN inline std::int64_t made_count(Word h, int most) {
  return 1 + static_cast<std::int64_t>(h % static_cast<Word>(most));
}
DSEA_FN inline Word made_word(Word h, std::int64_t i) { return hash_combine(h, static_cast<Word>(i) + 1); }
DSEA_FN inline double observed(Word h) { return static_cast<double>(h >> 12); }
inline Word seed_of(int kind, std::int64_t step, int slab, double feedback) {
  Word bits;
  std::memcpy(&bits, &feedback, sizeof bits);
  return hash_combine(
      hash_combine(hash_combine(static_cast<Word>(kind), static_cast<Word>(step)), static_cast<Word>(slab)), bits);
}

/// Writes a slab's list and grid from a gathered hash.
struct Make {
  Gather gather;
  Word* list = nullptr;
  std::int64_t* count = nullptr;
  int most = most_words;
  Word* grid = nullptr;
  double* observable = nullptr;
  DSEA_FN void operator()(std::int64_t) const {
    const Word h = gather();
    if (list != nullptr) {
      *count = made_count(h, most);
      for (std::int64_t i = 0; i < *count; ++i) list[i] = made_word(h, i);
    }
    for (int i = 0; grid != nullptr && i < grid_words; ++i) grid[i] = made_word(h, 100 + i);
    if (observable != nullptr) *observable = observed(h);
  }
};

/// The side field: must hold what its slab held when the process (or step) began.
struct MakeSide {
  Words words;
  Word* side = nullptr;
  std::int64_t* count = nullptr;
  DSEA_FN void operator()(std::int64_t) const {
    *count = 1;
    *side = words.grid != nullptr ? words.grid[0] : 0;
  }
};
struct CheckSide {
  const Word* side = nullptr;
  const std::int64_t* count = nullptr;
  dsea::FaultReporter faults;
  DSEA_FN void operator()(std::int64_t) const {
    if (*count != 1) faults.report(1, 0);
  }
};

struct One {
  DSEA_FN double operator()(std::int64_t) const { return 1; }
};

class Program {
 public:
  explicit Program(const dsea::Config& c) {
    shape_.slabs = c.get<std::int64_t>("synthetic.slabs", 8);
    shape_.periodic = c.get<bool>("synthetic.periodic", false);
    shape_.in = c.get<std::vector<std::int64_t>>("synthetic.in", {1});
    shape_.out = c.get<std::vector<std::int64_t>>("synthetic.out", {0});
    shape_.program_steps = c.get<int>("synthetic.program_steps", 1);
    shape_.finish = c.get<bool>("synthetic.finish", true);
    shape_.feedback = c.get<bool>("synthetic.feedback", false);
    shape_.side = c.get<bool>("synthetic.side", false);
    shape_.keep = c.get<bool>("synthetic.keep", false);
    throw_at_ = c.get<std::int64_t>("synthetic.throw_at", -1);
    throw_number_ = c.get<bool>("synthetic.throw_number", false);
    hang_at_ = c.get<std::int64_t>("synthetic.hang_at", -1);
    sleep_ms_ = c.get<std::int64_t>("synthetic.sleep_ms", 0);
    sleep_position_ = c.get<std::int64_t>("synthetic.sleep_position", -1);
    flip_ = c.get<std::int64_t>("synthetic.flip", -1);

    problem_.slabs = static_cast<int>(shape_.slabs);
    problem_.periodic = shape_.periodic;
    problem_.program_steps = shape_.program_steps;
    problem_.elements = shape_.slabs;
    problem_.element_name = "slabs";
    list_ = problem_.layout.list<Word>("list", most_words);
    grid_ = problem_.layout.grid<Word>("grid", grid_words);
    if (shape_.keep) kept_ = problem_.layout.list<Word>("kept", most_words);
    if (shape_.side) side_ = problem_.layout.side_list<Word>("side", 1);
    low_ = problem_.observable("low", dsea::ReduceOp::min, 42);
    total_ = problem_.observable("total", dsea::ReduceOp::sum);
    problem_.columns = {"low", "total"};
    work_ = problem_.phase("work");
    for (std::size_t k = 0; k < shape_.in.size(); ++k) {
      dsea::Kind kind(dsea::cat("kind ", k), static_cast<int>(shape_.in[k]), static_cast<int>(shape_.out[k]));
      if (!reads_grid(k)) kind.carries(grid_);
      if (reads_grid(k) && shape_.keep) kind.reads(grid_);
      if (shape_.keep) kind.carries(kept_);
      if (kind.out > 0) kind.contributes(list_);
      if (first_of_step(k)) {
        kind.observes(low_).observes(total_);
        if (shape_.feedback) kind.feeds_back(low_);
      }
      problem_.kinds.push_back(kind);
    }
    if (shape_.finish) {
      problem_.finish = dsea::Kind("finish", static_cast<int>(shape_.in[0]), 0);
      if (shape_.keep) problem_.finish->carries(kept_);
      problem_.finish->reads(grid_).observes(low_).observes(total_);
    }
  }

  dsea::Problem problem() const { return problem_; }
  const Shape& shape() const { return shape_; }

  static std::int64_t start_count(int slab) { return 1 + slab % most_words; }
  static std::int64_t kept_count(int slab) { return (2 + slab) % (most_words + 1); }
  static Word start_word(int slab, std::int64_t i) {
    return hash_combine(static_cast<Word>(slab), static_cast<Word>(i));
  }

  void init(int slab, dsea::SlabOut out) const {
    const auto list = out[list_];
    list.set_count(start_count(slab));
    for (std::int64_t i = 0; i < start_count(slab); ++i) list[i] = start_word(slab, i);
    for (int i = 0; i < grid_words; ++i) out[grid_][i] = start_word(slab, 100 + i);
    if (shape_.keep) {
      const auto kept = out[kept_];
      kept.set_count(kept_count(slab));
      for (std::int64_t i = 0; i < kept_count(slab); ++i) kept[i] = start_word(slab, 200 + i);
    }
    if (flip_ == slab) out[grid_][1] ^= 1ULL << 17;
  }

  void run(dsea::Stage& s) const {
    misbehave(s);
    s.phase(work_);
    const auto k = static_cast<std::size_t>(s.kind());
    const int in = static_cast<int>(shape_.in[k]), out = static_cast<int>(shape_.out[k]);
    const double feedback = first_of_step(k) && shape_.feedback ? s.reduced(low_) : 0;
    Make make{gather(s, in, reads_grid(k), feedback)};
    if (reads_grid(k) && !shape_.keep) make.grid = s.out(0)[grid_].data;
    if (first_of_step(k)) make.observable = s.observable(low_);
    if (out == 0) {
      make.list = s.out(0)[list_].data;
      make.count = s.out(0)[list_].count_at;
      dsea::for_each(s, 1, make);
    } else {
      for (int d = -out; d <= out; ++d) {
        if (!s.has_neighbour(d)) continue;
        Make part = make;
        part.gather.seed = hash_combine(make.gather.seed, static_cast<Word>(d + 50));
        part.list = s.out(d)[list_].data;
        part.count = s.out(d)[list_].count_at;
        part.most = 3;
        if (d != 0) part.grid = nullptr, part.observable = nullptr;
        dsea::for_each(s, 1, part);
      }
    }
    if (first_of_step(k)) dsea::observe(s, total_, 1, One{});
    if (shape_.side) sides(s);
  }

  void merge(dsea::Stage& s) const {
    const auto k = static_cast<std::size_t>(s.kind());
    const int out = static_cast<int>(shape_.out[k]);
    Make make;
    make.gather.seed = 5;
    for (int d = -out; d <= out; ++d) {
      const auto list = s.contribution(d)[list_];
      make.gather.inputs[static_cast<std::size_t>(make.gather.n++)] = {list.data, list.count_at, nullptr, 0};
    }
    make.list = s.out(0)[list_].data;
    make.count = s.out(0)[list_].count_at;
    dsea::for_each(s, 1, make);
  }

  void finish(dsea::Stage& s) const {
    Make make{gather(s, static_cast<int>(shape_.in[0]), true, 0)};
    make.list = s.out(0)[list_].data;
    make.count = s.out(0)[list_].count_at;
    make.observable = s.observable(low_);
    dsea::for_each(s, 1, make);
    dsea::observe(s, total_, 1, One{});
  }

  std::vector<double> row(const dsea::StepSums& sums) const { return {sums[low_], sums[total_]}; }

  bool reads_grid(std::size_t kind) const { return kind % 2 == 0; }  // and writes it, unless it is kept
  bool first_of_step(std::size_t kind) const { return kind % shape_.kinds_a_step() == 0; }

 private:
  Gather gather(dsea::Stage& s, int in, bool grid, double feedback) const {
    Gather g;
    g.seed = seed_of(s.kind(), s.step(), s.slab(), feedback);
    for (int d = -in; d <= in; ++d) {
      const dsea::SlabIn slab = s.in(d);
      Words& w = g.inputs[static_cast<std::size_t>(g.n++)];
      if (!slab) continue;
      w = {slab[list_].data, slab[list_].count_at, grid ? slab[grid_].data : nullptr, s.shift(d)};
    }
    return g;
  }

  void sides(dsea::Stage& s) const {
    if (s.makes_side()) {
      const bool grid = reads_grid(static_cast<std::size_t>(s.kind()));
      const auto side = s.out(0)[side_];
      dsea::for_each(s, 1,
                     MakeSide{{nullptr, nullptr, grid ? s.in(0)[grid_].data : nullptr, 0}, side.data, side.count_at});
    } else {
      const auto side = s.in(0)[side_];
      dsea::for_each(s, 1, CheckSide{side.data, side.count_at, s.faults()});
    }
  }

  void misbehave(dsea::Stage& s) const;

  Shape shape_;
  dsea::Problem problem_;
  dsea::Field<Word> list_, grid_, kept_, side_;
  dsea::Observable low_, total_;
  dsea::Phase work_;
  bool throw_number_ = false;
  std::int64_t throw_at_, hang_at_, sleep_ms_, sleep_position_, flip_;
};

/// The state of all slabs by a plain sweep, and the observable of every step.
struct Sweep {
  Sweep(const Shape& shape, std::int64_t steps, std::int64_t feedback_delay);
  std::uint64_t digest() const;
  std::vector<std::vector<Word>> list;
  std::vector<std::array<Word, grid_words>> grid;
  std::vector<double> low;  ///< by step; the last one is of the closing pass

 private:
  Gather gather(std::size_t kind, std::int64_t step, int slab, int in, bool grid, double feedback) const;
  const Shape shape_;
  mutable std::vector<std::int64_t> counts_;
};

}  // namespace synthetic
