// Skeleton of a tracer: particles that a velocity field carries through the slabs by Heun's rule. The field comes from
// outside, one level a step: this step's and the next one's are needed, each on three planes. Particles may cross one
// slab a step.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "dsea/dsea.hpp"

namespace skeleton {

using dsea::View;

struct Place {
  double x, y;  // x: in the whole box, in slabs; y: periodic, in cells
};

/// u at one plane of the field: two components a cell.
struct Velocity {
  double x, y;
};

/// Two levels of three planes.
struct Flow {
  View<const Velocity> plane[2][3];
  int slab;
  std::int64_t cells;

  /// Linear in x between the planes at slab-1, slab and slab+1, linear in y between cells.
  DSEA_FN Velocity at(int level, const Place& p) const {
    const double a = p.x - slab - 0.5;
    const double b = p.y - std::floor(p.y / static_cast<double>(cells)) * static_cast<double>(cells);
    const auto cell = static_cast<std::int64_t>(b) % cells;
    const std::int64_t next = (cell + 1) % cells;
    const double f = b - std::floor(b);
    const int away = a < 0 ? 0 : 2;
    const double w = plane[level][away] ? std::fabs(a) : 0.0;
    const View<const Velocity>& own = plane[level][1];
    Velocity v{(1 - f) * own[cell].x + f * own[next].x, (1 - f) * own[cell].y + f * own[next].y};
    if (w > 0) {
      const View<const Velocity>& other = plane[level][away];
      v.x = (1 - w) * v.x + w * ((1 - f) * other[cell].x + f * other[next].x);
      v.y = (1 - w) * v.y + w * ((1 - f) * other[cell].y + f * other[next].y);
    }
    return v;
  }
};

struct ParticlesIn {
  View<const std::int64_t> id;
  View<const Place> place;
};

struct ParticlesOut {
  View<std::int64_t> id;
  View<Place> place;
  DSEA_FN void put(std::int64_t at, std::int64_t new_id, const Place& p) const {
    if (at >= id.capacity) return;  // the count says so
    id[at] = new_id;
    place[at] = p;
  }
  DSEA_FN void set_count(std::int64_t n) const {
    id.set_count(n);
    place.set_count(n);
  }
};

struct Heun {
  Flow flow;
  View<const Place> from;
  Place* to;
  double dt;
  DSEA_FN void operator()(std::int64_t i) const {
    const Place p = from[i];
    const Velocity v1 = flow.at(0, p);
    const Velocity v2 = flow.at(1, {p.x + dt * v1.x, p.y + dt * v1.y});
    to[i] = {p.x + 0.5 * dt * (v1.x + v2.x), p.y + 0.5 * dt * (v1.y + v2.y)};
  }
};

enum TracerFault { too_fast = 1 };

/// One thread, so that every region is in the order of ids.
struct SendParticles {
  ParticlesIn own;
  const Place* place;
  ParticlesOut region[3];
  int slab;
  int shift[3];  // in slabs
  dsea::FaultReporter faults;
  DSEA_FN void operator()(std::int64_t) const {
    std::int64_t n[3] = {0, 0, 0};
    for (std::int64_t i = 0; i < own.id.count(); ++i) {
      Place p = place[i];
      int to = 1;
      if (p.x < slab) to = 0;
      if (p.x >= slab + 1) to = 2;
      if (p.x < slab - 1 || p.x >= slab + 2) faults.report(too_fast, own.id[i]);
      if (!region[to].id) continue;  // left through an open end
      p.x -= shift[to];
      region[to].put(n[to]++, own.id[i], p);
    }
    for (int s = 0; s < 3; ++s) {
      if (region[s].id) region[s].set_count(n[s]);
    }
  }
};

struct MergeParticles {
  ParticlesIn from[3];
  ParticlesOut to;
  DSEA_FN void operator()(std::int64_t) const {
    std::int64_t next[3] = {0, 0, 0};
    std::int64_t n = 0;
    for (;; ++n) {
      int first = -1;
      for (int s = 0; s < 3; ++s) {
        if (next[s] == from[s].id.count()) continue;
        if (first < 0 || from[s].id[next[s]] < from[first].id[next[first]]) first = s;
      }
      if (first < 0) break;
      const std::int64_t i = next[first]++;
      to.put(n, from[first].id[i], from[first].place[i]);
    }
    to.set_count(n);
  }
};

struct Number {
  const std::int64_t* count;
  double* to;
  DSEA_FN void operator()(std::int64_t) const { *to = static_cast<double>(*count); }
};

class Tracer {
 public:
  explicit Tracer(const dsea::Config& config)
      : cells_(config.get<int>("grid.cells", 16, dsea::at_least(1))),
        particles_(config.get<int>("tracer.particles_per_slab", 20, dsea::at_least(1))),
        capacity_(8 * particles_) {
    problem_.slabs = config.get<int>("grid.slabs", 9, dsea::at_least(1));
    problem_.periodic = config.choice("boundary.x", "periodic", {"periodic", "outflow"}) == "periodic";
    problem_.dt = config.get<double>("time.dt", 0.25, dsea::positive);
    problem_.elements = std::int64_t{problem_.slabs} * particles_;
    problem_.element_name = "particles";
    id_ = problem_.layout.list<std::int64_t>("id", capacity_);
    place_ = problem_.layout.list<Place>("place", capacity_);
    velocity_ = problem_.feed<Velocity>("velocity", cells_, 1);
    number_ = problem_.observable("particles");
    problem_.kinds = {dsea::Kind("heun", 1, 1).contributes(id_).contributes(place_).takes(velocity_).observes(number_)};
    problem_.scratch_bytes = static_cast<std::size_t>(capacity_) * sizeof(Place) + 64;
  }

  dsea::Problem problem() const { return problem_; }

  void init(int slab, dsea::SlabOut out) const {
    for (int i = 0; i < particles_; ++i) {
      out[id_][i] = std::int64_t{slab} * particles_ + i;
      out[place_][i] = {slab + (i + 0.5) / particles_, static_cast<double>((7 * i) % cells_)};
    }
    out[id_].set_count(particles_);
    out[place_].set_count(particles_);
  }

  /// One plane of the field at one step, on the io thread: what a program reads from a file.
  void load(int, std::int64_t step, int slab, void* to) const {
    auto* velocity = static_cast<Velocity*>(to);
    for (int j = 0; j < cells_; ++j) {
      velocity[j] = {std::sin(0.1 * static_cast<double>(step) + 0.5 * slab), std::cos(0.3 * j)};
    }
  }

  void run(dsea::Stage& s) const {
    Flow flow{};
    flow.slab = s.slab();
    flow.cells = cells_;
    for (int ahead = 0; ahead <= 1; ++ahead) {
      for (int d = -1; d <= 1; ++d) flow.plane[ahead][d + 1] = s.feed(velocity_, d, ahead);
    }
    const ParticlesIn own{s.in()[id_], s.in()[place_]};
    auto* moved = s.scratch<Place>(capacity_);
    dsea::for_each(s, own.id.live(), Heun{flow, own.place, moved, s.dt()});

    SendParticles send{own, moved, {}, s.slab(), {}, s.faults()};
    for (int d = -1; d <= 1; ++d) {
      send.shift[d + 1] = s.shift(d) * s.slabs();
      if (s.has_neighbour(d)) send.region[d + 1] = {s.out(d)[id_], s.out(d)[place_]};
    }
    dsea::for_each(s, 1, send);
    dsea::for_each(s, 1, Number{own.id.count_at, s.observable(number_)});
  }

  void merge(dsea::Stage& s) const {
    MergeParticles merge;
    for (int d = -1; d <= 1; ++d) merge.from[d + 1] = {s.contribution(d)[id_], s.contribution(d)[place_]};
    merge.to = {s.out()[id_], s.out()[place_]};
    dsea::for_each(s, 1, merge);
  }

  std::string explain(const dsea::Fault& fault) const {
    return dsea::cat("particle ", fault.element, " crossed more than one slab: a smaller time.dt helps");
  }

 private:
  int cells_, particles_, capacity_;
  dsea::Problem problem_;
  dsea::Field<std::int64_t> id_;
  dsea::Field<Place> place_;
  dsea::Feed<Velocity> velocity_;
  dsea::Observable number_;
};

}  // namespace skeleton
