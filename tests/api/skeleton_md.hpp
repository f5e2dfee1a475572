// Skeleton of molecular dynamics: molecules with velocities, forces from a neighbour list that the first worker of a
// process makes, pair coefficients in a table, migration between slabs by contributions every few steps, velocity
// Verlet closed by finish(). Small and plain: one thread sorts the molecules of a slab.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "dsea/dsea.hpp"

namespace skeleton {

using dsea::View;

struct Vec3 {
  double x, y, z;
};

struct PairCoefficients {
  double epsilon, sigma_squared;
};

struct MdBox {
  double length;  // of the stream axis, x
  double width;   // of y and z, periodic
  double slab;    // thickness of a slab
  double cutoff, skin;
};

/// The molecules of one slab, seen from a kernel; false beyond an open end.
struct Molecules {
  View<const std::int64_t> id;
  View<const std::int32_t> type;
  View<const Vec3> x, v;
  double shift = 0;  // to add to x
};

inline constexpr int most_neighbours = 160;

DSEA_FN inline double nearest(double d, double length) {
  if (d > 0.5 * length) return d - length;
  if (d < -0.5 * length) return d + length;
  return d;
}

DSEA_FN inline Vec3 distance(const MdBox& box, const Vec3& from, const Vec3& to, double shift) {
  return {to.x + shift - from.x, nearest(to.y - from.y, box.width), nearest(to.z - from.z, box.width)};
}

enum MdFault { list_full = 1, runaway = 2 };

/// Neighbours of molecule i, in an order that depends on the state only: by slab, then by place in the slab.
struct MakeList {
  Molecules slabs[3];
  MdBox box;
  View<std::int32_t> number, list;
  std::int64_t capacity;
  dsea::FaultReporter faults;

  DSEA_FN void operator()(std::int64_t i) const {
    const double reach = box.cutoff + box.skin;
    int n = 0;
    for (int s = 0; s < 3; ++s) {
      const Molecules& others = slabs[s];
      for (std::int64_t j = 0; j < others.id.count(); ++j) {
        if (s == 1 && j == i) continue;
        const Vec3 d = distance(box, slabs[1].x[i], others.x[j], others.shift);
        if (d.x * d.x + d.y * d.y + d.z * d.z > reach * reach) continue;
        if (n == most_neighbours) {
          faults.report(list_full, slabs[1].id[i]);
          break;
        }
        list[i * most_neighbours + n++] = static_cast<std::int32_t>(s * capacity + j);
      }
    }
    number[i] = n;
    if (i == 0) {
      number.set_count(slabs[1].id.count());
      list.set_count(slabs[1].id.count() * most_neighbours);
    }
  }
};

/// Force on molecule i from its list, then the kick and, if asked for, the drift.
struct Advance {
  Molecules slabs[3];
  MdBox box;
  View<const std::int32_t> number, list;
  std::int64_t capacity;
  const PairCoefficients* pairs;
  double kick, to_full;  // times force: for the new velocity; for the velocity at the full step
  double drift;
  Vec3 *x, *v;  // results; x may be null
  double *kinetic, *potential;

  DSEA_FN void operator()(std::int64_t i) const {
    const Molecules& own = slabs[1];
    Vec3 f{0, 0, 0};
    double energy = 0;
    for (std::int64_t k = 0; k < number[i]; ++k) {
      const std::int64_t entry = list[i * most_neighbours + k];
      const Molecules& others = slabs[entry / capacity];
      const std::int64_t j = entry % capacity;
      const Vec3 d = distance(box, own.x[i], others.x[j], others.shift);
      const double r2 = d.x * d.x + d.y * d.y + d.z * d.z;
      if (r2 > box.cutoff * box.cutoff) continue;  // adds nothing, however old the list is
      const PairCoefficients c = pairs[own.type[i] * 2 + others.type[j]];
      const double s2 = c.sigma_squared / r2;
      const double s6 = s2 * s2 * s2;
      const double cut2 = c.sigma_squared / (box.cutoff * box.cutoff);
      const double cut6 = cut2 * cut2 * cut2;
      energy += 2 * c.epsilon * ((s6 * s6 - s6) - (cut6 * cut6 - cut6));  // shifted: no jump at the cut-off
      const double over_r = 24 * c.epsilon * (2 * s6 * s6 - s6) / r2;
      f.x -= over_r * d.x;
      f.y -= over_r * d.y;
      f.z -= over_r * d.z;
    }
    const Vec3 old = own.v[i];
    const Vec3 full{old.x + to_full * f.x, old.y + to_full * f.y, old.z + to_full * f.z};
    const Vec3 next{old.x + kick * f.x, old.y + kick * f.y, old.z + kick * f.z};
    kinetic[i] = 0.5 * (full.x * full.x + full.y * full.y + full.z * full.z);
    potential[i] = energy;
    v[i] = next;
    if (x != nullptr) {
      const Vec3& here = own.x[i];
      x[i] = {here.x + drift * next.x, here.y + drift * next.y, here.z + drift * next.z};
    }
  }
};

/// Where molecules are written: a contribution or the final fields.
struct MoleculesOut {
  View<std::int64_t> id;
  View<std::int32_t> type;
  View<Vec3> x, v;
  DSEA_FN void put(std::int64_t at, std::int64_t new_id, std::int32_t new_type, const Vec3& new_x,
                   const Vec3& new_v) const {
    if (at >= id.capacity) return;  // the count says so
    id[at] = new_id;
    type[at] = new_type;
    x[at] = new_x;
    v[at] = new_v;
  }
  DSEA_FN void set_count(std::int64_t n) const {
    id.set_count(n);
    type.set_count(n);
    x.set_count(n);
    v.set_count(n);
  }
};

/// Sends every molecule to the slab it is in; one thread, so that regions are in the order of ids.
struct Distribute {
  Molecules own;
  const Vec3 *x, *v;
  MoleculesOut region[3];
  double shift[3];
  MdBox box;
  bool migrate;
  double lower;  // of the slab
  double* moved;
  dsea::FaultReporter faults;

  DSEA_FN void operator()(std::int64_t) const {
    std::int64_t n[3] = {0, 0, 0};
    for (std::int64_t i = 0; i < own.id.count(); ++i) {
      Vec3 p = x[i];
      int to = 1;
      if (p.x < lower - box.skin || p.x > lower + box.slab + box.skin) faults.report(runaway, own.id[i]);
      if (migrate) {
        if (p.x < lower) to = 0;
        if (p.x >= lower + box.slab) to = 2;
        if (!region[to].id) to = 1;  // an open end: stays
        p.x -= shift[to];
        p.y -= box.width * std::floor(p.y / box.width);
        p.z -= box.width * std::floor(p.z / box.width);
      }
      region[to].put(n[to]++, own.id[i], own.type[i], p, v[i]);
    }
    for (int s = 0; s < 3; ++s) {
      if (region[s].id) region[s].set_count(n[s]);
    }
    *moved = static_cast<double>(n[0] + n[2]);
  }
};

/// Contributions, each in the order of ids, become fields in the order of ids.
struct MergeById {
  Molecules from[3];
  MoleculesOut to;
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
      const Molecules& m = from[first];
      const std::int64_t i = next[first]++;
      to.put(n, m.id[i], m.type[i], m.x[i], m.v[i]);
    }
    to.set_count(n);
  }
};

struct ReadDouble {
  const double* values;
  DSEA_FN double operator()(std::int64_t i) const { return values[i]; }
};

struct CopyCount {
  const std::int64_t* from;
  std::int64_t* to;
  DSEA_FN void operator()(std::int64_t) const { *to = *from; }
};

class Md {
 public:
  explicit Md(const dsea::Config& config)
      : migrate_every_(config.get<int>("md.migrate_every", 4, dsea::at_least(1))),
        dt_(config.get<double>("time.dt", 0.004, dsea::positive)),
        pairs_(std::vector<PairCoefficients>{{1.0, 1.0}, {0.8, 1.1}, {0.8, 1.1}, {0.6, 1.2}}) {
    problem_.slabs = config.get<int>("md.slabs", 7, dsea::at_least(1));
    problem_.periodic = config.choice("boundary.x", "periodic", {"periodic", "outflow"}) == "periodic";
    problem_.dt = dt_;
    box_ = {3.0 * problem_.slabs, 6.0, 3.0, 2.0, 0.5};
    problem_.elements = std::int64_t{problem_.slabs} * per_slab_;
    problem_.element_name = "molecules";
    problem_.side_every = migrate_every_;
    dsea::SliceLayout& layout = problem_.layout;
    id_ = layout.list<std::int64_t>("id", capacity_);
    type_ = layout.list<std::int32_t>("type", capacity_);
    x_ = layout.list<Vec3>("x", capacity_);
    v_ = layout.list<Vec3>("v", capacity_);
    number_ = layout.side_list<std::int32_t>("number of neighbours", capacity_);
    list_ = layout.side_list<std::int32_t>("neighbours", capacity_ * most_neighbours);
    kinetic_ = problem_.observable("kinetic");
    potential_ = problem_.observable("potential");
    moved_ = problem_.observable("moved");
    problem_.kinds = {dsea::Kind("md", 1, 1)
                          .contributes(id_, away_)
                          .contributes(type_, away_)
                          .contributes(x_, away_)
                          .contributes(v_, away_)
                          .observes(kinetic_)
                          .observes(potential_)
                          .observes(moved_)};
    problem_.finish =
        dsea::Kind("half kick", 1, 0).reads(id_, type_, x_).observes(kinetic_).observes(potential_).observes(moved_);
    problem_.scratch_bytes = static_cast<std::size_t>(capacity_) * (2 * sizeof(Vec3) + 2 * sizeof(double)) + 4096;
    problem_.columns = {"kinetic", "potential", "total", "moved"};
  }

  dsea::Problem problem() const { return problem_; }
  void prepare(const dsea::Device& device) { pairs_.upload(device); }

  void init(int slab, dsea::SlabOut out) const {
    std::int64_t n = 0;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        for (int k = 0; k < 4; ++k, ++n) {
          const std::int64_t id = std::int64_t{slab} * per_slab_ + n;
          const auto part = [id](std::uint64_t salt) {
            return static_cast<double>(dsea::hash_combine(salt, static_cast<std::uint64_t>(id)) >> 11) * 0x1p-53;
          };
          out[id_][n] = id;
          out[type_][n] = static_cast<std::int32_t>(id % 2);
          out[x_][n] = {slab * box_.slab + 1.5 * i + 0.05, 1.5 * j + 0.1 * part(1), 1.5 * k + 0.1 * part(2)};
          out[v_][n] = {4 * part(3) - 2, 4 * part(4) - 2, 4 * part(5) - 2};
        }
      }
    }
    out[id_].set_count(n);
    out[type_].set_count(n);
    out[x_].set_count(n);
    out[v_].set_count(n);
  }

  void run(dsea::Stage& s) const {
    Advance advance = forces(s);
    advance.kick = s.step() == 0 ? 0.5 * dt_ : dt_;
    advance.to_full = s.step() == 0 ? 0 : 0.5 * dt_;
    advance.drift = dt_;
    advance.x = s.scratch<Vec3>(capacity_);
    advance.v = s.scratch<Vec3>(capacity_);
    dsea::for_each(s, s.in()[id_].live(), advance);
    report(s, advance);

    Distribute distribute{.own = advance.slabs[1],
                          .x = advance.x,
                          .v = advance.v,
                          .region = {},
                          .shift = {},
                          .box = box_,
                          .migrate = (s.step() + 1) % migrate_every_ == 0,
                          .lower = s.slab() * box_.slab,
                          .moved = s.observable(moved_),
                          .faults = s.faults()};
    for (int d = -1; d <= 1; ++d) {
      distribute.shift[d + 1] = s.shift(d) * box_.length;
      if (s.has_neighbour(d)) distribute.region[d + 1] = outside(s.out(d));
    }
    dsea::for_each(s, 1, distribute);
  }

  void merge(dsea::Stage& s) const {
    MergeById merge;
    for (int d = -1; d <= 1; ++d) merge.from[d + 1] = inside(s.contribution(d), 0);
    merge.to = outside(s.out());
    dsea::for_each(s, 1, merge);
  }

  void finish(dsea::Stage& s) const {
    Advance advance = forces(s);
    advance.kick = advance.to_full = s.step() == 0 ? 0 : 0.5 * dt_;
    advance.x = nullptr;
    advance.v = s.out()[v_].data;
    dsea::for_each(s, s.in()[id_].live(), advance);
    dsea::for_each(s, 1, CopyCount{s.in()[v_].count_at, s.out()[v_].count_at});
    report(s, advance);
  }

  std::uint64_t digest(int, dsea::SlabIn slab) const {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < slab[id_].count(); ++i) {
      std::uint64_t h =
          dsea::hash_combine(static_cast<std::uint64_t>(slab[id_][i]), static_cast<std::uint64_t>(slab[type_][i]));
      h = dsea::hash_bytes(&slab[x_][i], sizeof(Vec3), h);
      sum += dsea::hash_bytes(&slab[v_][i], sizeof(Vec3), h);
    }
    return sum;
  }

  std::vector<double> row(const dsea::StepSums& sums) const {
    return {sums[kinetic_], sums[potential_], sums[kinetic_] + sums[potential_], sums[moved_]};
  }

  std::string explain(const dsea::Fault& fault) const {
    if (fault.code == list_full)
      return dsea::cat("molecule ", fault.element, " has over ", most_neighbours, " neighbours");
    return dsea::cat("molecule ", fault.element, " left its slab by more than the skin: a smaller time.dt helps");
  }

 private:
  Molecules inside(dsea::SlabIn slab, double shift) const {
    return {slab[id_], slab[type_], slab[x_], slab[v_], shift};
  }
  MoleculesOut outside(dsea::SlabOut slab) const { return {slab[id_], slab[type_], slab[x_], slab[v_]}; }

  /// Everything but what to do with the forces. The list is made if this is the place for it.
  Advance forces(dsea::Stage& s) const {
    Advance advance{};
    for (int d = -1; d <= 1; ++d) advance.slabs[d + 1] = inside(s.in(d), s.shift(d) * box_.length);
    advance.box = box_;
    advance.capacity = capacity_;
    advance.pairs = pairs_.view();
    advance.kinetic = s.scratch<double>(capacity_);
    advance.potential = s.scratch<double>(capacity_);
    if (s.makes_side()) {
      MakeList make{{}, box_, s.out()[number_], s.out()[list_], capacity_, s.faults()};
      for (int d = 0; d < 3; ++d) make.slabs[d] = advance.slabs[d];
      dsea::for_each(s, s.in()[id_].live(), make);
      advance.number = make.number;
      advance.list = make.list;
    } else {
      advance.number = s.in()[number_];
      advance.list = s.in()[list_];
    }
    return advance;
  }

  void report(dsea::Stage& s, const Advance& advance) const {
    if (!s.observing()) return;
    dsea::observe(s, kinetic_, s.in()[id_].live(), ReadDouble{advance.kinetic});
    dsea::observe(s, potential_, s.in()[id_].live(), ReadDouble{advance.potential});
  }

  static constexpr std::int64_t per_slab_ = 32, capacity_ = 64, away_ = 40;
  int migrate_every_;
  double dt_;
  dsea::Table<PairCoefficients> pairs_;
  MdBox box_{};
  dsea::Problem problem_;
  dsea::Field<std::int64_t> id_;
  dsea::Field<std::int32_t> type_, number_, list_;
  dsea::Field<Vec3> x_, v_;
  dsea::Observable kinetic_, potential_, moved_;
};

}  // namespace skeleton
