// The molecular dynamics kernels over all slabs, step by step, without a ring: what the ring has to do, in plain loops
// over plain arrays on the host. The reference of tests, and the limit that the ring's bench compares with.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "dsea/device/device.hpp"
#include "dsea/device/stream.hpp"
#include "kernels/md/slab_step.hpp"
#include "kernels/md/sorting.hpp"

namespace dsea::md {

/// The fields of one slab or region.
struct SlabMemory {
  std::vector<Position> position;
  std::vector<Velocity> velocity;
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> cells;
  std::int64_t count = 0;
  std::int64_t cell_count = 0;
  double moved = 0;
  // the list
  std::vector<std::int32_t> rows, number, entries;
  std::vector<double> moved_then;

  SlabMemory(std::int64_t capacity, std::int64_t cell_number)
      : position(static_cast<std::size_t>(capacity)),
        velocity(static_cast<std::size_t>(capacity)),
        id(static_cast<std::size_t>(capacity)),
        cells(static_cast<std::size_t>(cell_number + 1)),
        cell_count(cell_number + 1) {}

  std::int64_t capacity() const { return static_cast<std::int64_t>(position.size()); }

  MoleculesIn in() const {
    MoleculesIn m;
    m.position = {position.data(), &count, capacity()};
    m.velocity = {velocity.data(), &count, capacity()};
    m.id = {id.data(), &count, capacity()};
    m.cells = {cells.data(), &cell_count, cell_count};
    return m;
  }
  MoleculesOut out() {
    MoleculesOut m;
    m.position = {position.data(), &count, capacity()};
    m.velocity = {velocity.data(), &count, capacity()};
    m.id = {id.data(), &count, capacity()};
    m.cells = {cells.data(), &cell_count, cell_count};
    return m;
  }
};

/// Sums over all molecules at a full step, and every molecule's sample by its id.
struct FullState {
  double potential = 0, kinetic = 0, virial = 0;
  std::map<std::int64_t, std::pair<Position, Sample>> molecules;
};

/// Everything for molecules of one type in a grid that may be sorted every `sort_every` steps.
inline ForceField one_type(const CellGrid& grid, const PairRow& pair, double mass, double dt) {
  ForceField field;
  field.grid = grid;
  field.cutoff = std::sqrt(pair.c[0]);
  const Widths widths = widths_of(grid, field.cutoff);
  field.margin = widths.margin;
  field.width = widths.narrowest;
  field.pairs = Table<PairRow>(std::vector<PairRow>{pair});
  TypeRow type;
  type.mass = mass;
  type.kick = 0.5 * dt / mass;
  field.types = Table<TypeRow>(std::vector<TypeRow>{type});
  field.dt = dt;
  return field;
}

class Sweep {
 public:
  /// `field.skin` > 0: with lists, which are made when molecules have been sorted..
  Sweep(const ForceField& field, std::int64_t capacity, std::int64_t away, int sort_every = 1, int threads = 1)
      : field_(field),
        capacity_((capacity + 7) / 8 * 8),
        away_(away),
        sort_every_(sort_every),
        device_(Device::open({.backend = "host", .threads = threads})),
        stream_(device_, "sweep"),
        memory_(SlabStep::scratch_bytes(field, capacity_, away)) {
    field_.upload(device_);
    for (int i = 0; i < field.grid.slabs(); ++i) {
      slabs_.emplace_back(capacity_, field.grid.cells());
      SlabMemory& s = slabs_.back();
      s.rows.resize(static_cast<std::size_t>(PackedShape(field.grid).rows() + 1));
      s.number.resize(static_cast<std::size_t>(capacity_));
      s.entries.resize(static_cast<std::size_t>(capacity_ * field.list_stride));
      s.moved_then.resize(3);
      next_.emplace_back(capacity_, field.grid.cells());
      regions_.emplace_back();
      for (int d = 0; d < 3; ++d) regions_.back().emplace_back(d == 1 ? capacity_ : away_, field.grid.cells());
    }
  }

  SlabMemory& slab(int i) { return slabs_[static_cast<std::size_t>(i)]; }
  std::uint64_t fault_word() const { return fault_; }
  std::int64_t moved_between_slabs() const { return moved_; }
  bool sorted() const { return step_ % sort_every_ == 0; }
  std::int64_t plain_sums() const { return plain_; }  ///< slabs whose list did not hold all

  /// Forces and the rest at the present step.
  FullState observe() {
    FullState state;
    for (int i = 0; i < slabs(); ++i) {
      SlabStep step = begin(i);
      step.observe();
      std::vector<Velocity> ignored(static_cast<std::size_t>(capacity_));
      step.close(ignored.data());
      for (std::int64_t k = 0; k < slab(i).count; ++k) {
        const Sample& s = step.samples()[k];
        state.potential += PotentialEnergy{step.samples()}(k);
        state.virial += Virial{step.samples()}(k);
        state.kinetic += KineticEnergy{step.samples(), slab(i).position.data(), field_.types.view()}(k);
        state.molecules[slab(i).id[static_cast<std::size_t>(k)]] = {slab(i).position[static_cast<std::size_t>(k)], s};
      }
    }
    return state;
  }

  void step() {
    if ((step_ + 1) % sort_every_ == 0)
      step_and_sort();
    else
      step_in_place();
    half_step_ = true;
    ++step_;
  }

 private:
  int slabs() const { return field_.grid.slabs(); }

  /// The slab at i + d, or -1; boxes: how often the seam was crossed.
  int neighbour(int i, int d, int& boxes) const {
    const int n = slabs();
    int j = i + d;
    boxes = 0;
    if (j < 0 || j >= n) {
      if (!field_.grid.x.periodic) return -1;
      boxes = j < 0 ? -1 : 1;
      j += j < 0 ? n : -n;
    }
    return j;
  }

  SlabStep begin(int i) {
    StepInput in;
    for (int d = -1; d <= 1; ++d) {
      int boxes = 0;
      const int j = neighbour(i, d, boxes);
      if (j < 0) continue;
      in.slab[d + 1] = slab(j).in();
      in.moved[d + 1] = &slab(j).moved;
      in.shift[d + 1] = boxes * field_.grid.x.length;
    }
    in.number = i;
    in.step = step_;
    in.half_step = half_step_;
    in.faults = FaultReporter{&fault_};
    SlabStep step(stream_, field_, in, Arena(memory_.data()));
    SlabMemory& s = slab(i);
    if (field_.skin == 0)
      step.no_lists();
    else if (sorted() || step_ == 0)
      step.make_lists({s.rows.data(), s.number.data(), s.entries.data(), s.moved_then.data()});
    else
      step.use_lists({s.rows.data(), s.number.data(), s.entries.data(), s.moved_then.data()});
    plain_ += field_.skin > 0 && !step.list().holds_all() ? 1 : 0;
    return step;
  }

  void step_in_place() {
    for (int i = 0; i < slabs(); ++i) {
      SlabMemory& to = next_[static_cast<std::size_t>(i)];
      begin(i).advance(to.position.data(), to.velocity.data(), &to.moved);
    }
    for (int i = 0; i < slabs(); ++i) {
      SlabMemory& to = next_[static_cast<std::size_t>(i)];
      std::swap(slab(i).position, to.position);
      std::swap(slab(i).velocity, to.velocity);
      slab(i).moved = to.moved;
    }
  }

  void step_and_sort() {
    for (int i = 0; i < slabs(); ++i) {
      auto& regions = regions_[static_cast<std::size_t>(i)];
      MoleculesOut to[3];
      for (int d = -1; d <= 1; ++d) {
        int boxes = 0;
        if (neighbour(i, d, boxes) >= 0) to[d + 1] = regions[static_cast<std::size_t>(d + 1)].out();
      }
      begin(i).advance_and_distribute(to);
      moved_ += regions[0].count + regions[2].count;
    }
    for (int i = 0; i < slabs(); ++i) {
      MoleculesIn from[3];
      for (int d = -1; d <= 1; ++d) {
        int boxes = 0;
        const int j = neighbour(i, d, boxes);
        if (j >= 0) from[d + 1] = regions_[static_cast<std::size_t>(j)][static_cast<std::size_t>(1 - d)].in();
      }
      SlabStep::merge(stream_, field_, from, slab(i).out(), Arena(memory_.data()));
      slab(i).moved = 0;
    }
  }

  ForceField field_;
  std::int64_t capacity_, away_;
  int sort_every_;
  Device device_;
  Stream stream_;
  std::vector<std::byte> memory_;
  std::vector<SlabMemory> slabs_;
  std::vector<SlabMemory> next_;                  // positions and velocities after a step
  std::vector<std::vector<SlabMemory>> regions_;  // by source slab, for slabs i-1, i, i+1
  std::int64_t step_ = 0;
  bool half_step_ = false;
  std::uint64_t fault_ = ~std::uint64_t{0};
  std::int64_t moved_ = 0;
  std::int64_t plain_ = 0;
};

}  // namespace dsea::md
