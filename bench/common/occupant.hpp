// A synthetic program: its workers occupy their process's device for a given time and compute next to nothing, without
// using a core. So many ranks run honestly on few cores.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "common/sample.hpp"
#include "dsea/dsea.hpp"

namespace bench {

/// When the last slice of each super-cycle was worked on by the ring's last worker; written in its process alone.
using CycleEnds = std::shared_ptr<std::vector<double>>;

struct OccupantShape {
  int slices = 24;              ///< slabs of an open axis
  double worker_seconds = 0.1;  ///< a worker needs for a slice
  int positions = 1;            ///< workers in the ring
  int supercycles = 1;
  std::int64_t words = 1;  ///< of 8 bytes, a slice's load: nobody touches it, so that it costs links and nothing else
  std::int64_t final_words = 0;  ///< more of it, which is carried and so goes ahead of a slice
};

/// Molecular dynamics' orders: reads one neighbour on each side, contributes to one on each side, merges. Its state is
/// a number a slab that grows by one a step, counted together from what the slab and its neighbours contribute: the
/// digest of a right run is slabs x steps.
class Occupant {
 public:
  explicit Occupant(const OccupantShape& shape, CycleEnds ends = nullptr) : shape_(shape), ends_(std::move(ends)) {
    if (ends_) ends_->assign(static_cast<std::size_t>(shape.supercycles), 0.0);
    problem_.slabs = shape.slices;
    problem_.elements = shape.slices;
    problem_.element_name = "slices";
    count_ = problem_.layout.list<std::int64_t>("count", 1);
    load_ = problem_.layout.grid<std::uint64_t>("load", shape.words);
    dsea::Kind kind("occupy", 1, 1);
    kind.contributes(count_);  // the load counts as written: there when the slice is complete, as molecules are
    if (shape.final_words > 0) {
      final_load_ = problem_.layout.grid<std::uint64_t>("final load", shape.final_words);
      kind.carries(final_load_);
    }
    problem_.kinds = {kind};
  }

  dsea::Problem problem() const { return problem_; }

  void init(int slab, dsea::SlabOut out) const {
    out[count_].set_count(1);
    out[count_][0] = 0;
    for (std::int64_t i = 0; i < shape_.words; ++i) out[load_][i] = static_cast<std::uint64_t>(slab);
    for (std::int64_t i = 0; i < shape_.final_words; ++i) out[final_load_][i] = static_cast<std::uint64_t>(slab);
  }

  void run(dsea::Stage& s) const {
    const bool ends = ends_ && s.slab() == shape_.slices - 1 && s.position() == shape_.positions - 1;
    double* const end = ends ? &(*ends_)[static_cast<std::size_t>(s.step() / shape_.positions)] : nullptr;
    s.host_task([seconds = shape_.worker_seconds, end] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      if (end != nullptr) *end = now();
    });
    for (int d = -1; d <= 1; ++d) {
      if (!s.has_neighbour(d)) continue;
      const auto to = s.out(d)[count_];
      const std::int64_t* from = d == 0 ? s.in(0)[count_].data : nullptr;
      dsea::for_each(s, 1, Give{from, to.data, to.count_at});
    }
  }

  void merge(dsea::Stage& s) const {
    Merge merge{{}, s.out(0)[count_].data, s.out(0)[count_].count_at};
    for (int d = -1; d <= 1; ++d) merge.from[d + 1] = s.contribution(d)[count_].data;
    dsea::for_each(s, 1, merge);
  }

  std::uint64_t digest(int /*slab*/, dsea::SlabIn slab) const {
    return static_cast<std::uint64_t>(slab[count_].data[0]);
  }

  // Kernels: public, as CUDA wants them.
  struct Give {
    const std::int64_t* from;
    std::int64_t* to;
    std::int64_t* count;
    DSEA_FN void operator()(std::int64_t) const {
      *count = 1;
      *to = from == nullptr ? 0 : *from + 1;
    }
  };
  struct Merge {
    const std::int64_t* from[3];
    std::int64_t* to;
    std::int64_t* count;
    DSEA_FN void operator()(std::int64_t) const {
      *count = 1;
      *to = 0;
      for (const std::int64_t* part : from) *to += part == nullptr ? 0 : *part;
    }
  };

 private:
  OccupantShape shape_;
  CycleEnds ends_;
  dsea::Problem problem_;
  dsea::Field<std::int64_t> count_;
  dsea::Field<std::uint64_t> load_, final_load_;
};

}  // namespace bench
