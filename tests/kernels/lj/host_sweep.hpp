// Runs the molecular dynamics kernels over all slabs, step by step, without a ring: what the ring has to do, in plain
// loops over plain arrays.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "dsea/device/device.hpp"
#include "dsea/device/stream.hpp"
#include "kernels/cell_list/merge.hpp"
#include "kernels/cell_list/migrate.hpp"
#include "kernels/lj/verlet.hpp"

namespace dsea::md::test {

/// The fields of one slab or region.
struct SlabMemory {
  std::vector<Position> position;
  std::vector<Velocity> velocity;
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> cells;
  std::int64_t count = 0;
  std::int64_t cell_count = 0;

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

class HostSweep {
 public:
  HostSweep(CellGrid grid, LennardJones pair, double mass, double dt, std::int64_t capacity, std::int64_t away)
      : grid_(grid),
        pair_(pair),
        mass_(mass),
        dt_(dt),
        capacity_(capacity),
        away_(away),
        device_(Device::open({.backend = "host"})),
        stream_(device_, "sweep") {
    for (int i = 0; i < grid.slabs(); ++i) slabs_.emplace_back(capacity, grid.cells());
  }

  SlabMemory& slab(int i) { return slabs_[static_cast<std::size_t>(i)]; }
  std::uint64_t fault_word() const { return fault_; }
  std::int64_t moved_between_slabs() const { return moved_; }

  /// Forces and the rest at the present step.
  FullState observe() {
    FullState state;
    for (int i = 0; i < grid_.slabs(); ++i) {
      std::vector<Sample> samples(static_cast<std::size_t>(capacity_));
      std::vector<Velocity> ignored(static_cast<std::size_t>(capacity_));
      const FullStep full = full_step(i, samples.data());
      for_each(stream_, full.velocity.live(), Close{full, {ignored.data(), &slab(i).count, capacity_}});
      for (std::int64_t k = 0; k < slab(i).count; ++k) {
        const Sample& s = samples[static_cast<std::size_t>(k)];
        state.potential += PotentialEnergy{samples.data()}(k);
        state.virial += Virial{samples.data()}(k);
        state.kinetic += KineticEnergy{samples.data(), 0.5 * mass_}(k);
        state.molecules[slab(i).id[static_cast<std::size_t>(k)]] = {slab(i).position[static_cast<std::size_t>(k)], s};
      }
    }
    return state;
  }

  void step() {
    std::vector<std::vector<SlabMemory>> regions;  // by source slab
    for (int i = 0; i < grid_.slabs(); ++i) {
      regions.emplace_back();
      for (int d = 0; d < 3; ++d) regions.back().emplace_back(d == 1 ? capacity_ : away_, grid_.cells());
      distribute_slab(i, regions.back());
    }
    for (int i = 0; i < grid_.slabs(); ++i) merge_slab(i, regions);
    half_step_ = true;
  }

 private:
  /// The slab at i + d, or -1; boxes: how often the seam was crossed.
  int neighbour(int i, int d, int& boxes) const {
    const int n = grid_.slabs();
    int j = i + d;
    boxes = 0;
    if (j < 0 || j >= n) {
      if (!grid_.x.periodic) return -1;
      boxes = j < 0 ? -1 : 1;
      j += j < 0 ? n : -n;
    }
    return j;
  }

  FullStep full_step(int i, Sample* samples) {
    FullStep full{{}, pair_, slab(i).in().velocity, 0.5 * dt_ / mass_, half_step_, samples};
    full.around.grid = grid_;
    for (int d = -1; d <= 1; ++d) {
      int boxes = 0;
      const int j = neighbour(i, d, boxes);
      if (j < 0) continue;
      full.around.position[d + 1] = slab(j).in().position;
      full.around.cells[d + 1] = slab(j).in().cells;
      full.around.shift[d + 1] = boxes * grid_.x.length;
    }
    return full;
  }

  void distribute_slab(int i, std::vector<SlabMemory>& regions) {
    const auto n = static_cast<std::size_t>(capacity_);
    std::vector<Moved> moved(n);
    std::vector<std::int32_t> up(n + 1), down(n + 1);
    std::vector<std::int64_t> scan(MigrateScratch::scan_bytes(capacity_) / 8 + 1);
    const MigrateScratch scratch{moved.data(), up.data(), down.data(), scan.data()};
    for_each(stream_, capacity_,
             Advance{full_step(i, nullptr), slab(i).in().id, {grid_, i}, dt_, scratch, FaultReporter{&fault_}});
    MoleculesOut to[3];
    for (int d = -1; d <= 1; ++d) {
      int boxes = 0;
      if (neighbour(i, d, boxes) >= 0) to[d + 1] = regions[static_cast<std::size_t>(d + 1)].out();
    }
    distribute(stream_, slab(i).in(), to, scratch);
    moved_ += regions[0].count + regions[2].count;
  }

  void merge_slab(int i, std::vector<std::vector<SlabMemory>>& regions) {
    MoleculesIn from[3];
    std::vector<std::vector<std::int32_t>> cell(3, std::vector<std::int32_t>(static_cast<std::size_t>(capacity_)));
    MergeScratch scratch;
    for (int d = -1; d <= 1; ++d) {
      int boxes = 0;
      const int j = neighbour(i, d, boxes);
      if (j < 0) continue;
      from[d + 1] = regions[static_cast<std::size_t>(j)][static_cast<std::size_t>(1 - d)].in();
      scratch.cell[d + 1] = cell[static_cast<std::size_t>(d + 1)].data();
    }
    std::vector<std::int32_t> number(static_cast<std::size_t>(grid_.cells()));
    std::vector<std::uint32_t> order(static_cast<std::size_t>(capacity_));
    std::vector<std::int64_t> scan(exclusive_scan_scratch_bytes(grid_.cells()) / 8 + 1);
    scratch.number = number.data();
    scratch.order = order.data();
    scratch.scan = scan.data();
    merge_regions(stream_, grid_, from, slab(i).out(), scratch);
  }

  CellGrid grid_;
  LennardJones pair_;
  double mass_, dt_;
  std::int64_t capacity_, away_;
  Device device_;
  Stream stream_;
  std::vector<SlabMemory> slabs_;
  bool half_step_ = false;
  std::uint64_t fault_ = ~std::uint64_t{0};
  std::int64_t moved_ = 0;
};

}  // namespace dsea::md::test
