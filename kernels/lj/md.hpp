// Lennard-Jones molecular dynamics as a worker: velocity Verlet, molecules migrate between slabs by contributions.
//
// One kind: run() at step t takes a slab from t to t+1 (kernels/lj/verlet.hpp says in which order) and contributes its
// molecules to the slabs they are in now; merge() sorts a slab's contributions into cells; finish() completes the
// velocities of the last step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsea/dsea.hpp"
#include "kernels/cell_list/merge.hpp"
#include "kernels/cell_list/migrate.hpp"
#include "kernels/lj/model.hpp"
#include "kernels/lj/verlet.hpp"

namespace dsea::md {

inline namespace DSEA_KERNEL_NAMESPACE {

namespace detail {

/// Copies a full step's state into the snapshot's fields.
struct TakeSnapshot {
  MoleculesIn from;
  const Sample* samples;
  View<std::int64_t> id;
  View<Position> position;
  View<Velocity> velocity;
  View<ForceEnergy> force;

  DSEA_FN void operator()(std::int64_t i) const {
    const Sample& s = samples[i];
    id[i] = from.id[i];
    position[i] = from.position[i];
    velocity[i] = s.velocity;
    force[i] = {s.fx, s.fy, s.fz, s.potential};
  }
};

/// Gives up to four fields the count of a slab.
struct SetCounts {
  const std::int64_t* from;
  std::int64_t* to[4];
  DSEA_FN void operator()(std::int64_t) const {
    for (std::int64_t* count : to) {
      if (count != nullptr) *count = *from;
    }
  }
};

}  // namespace detail

class LjMd {
 public:
  explicit LjMd(const Config& config) : model_(config) {}

  const Model& model() const { return model_; }
  Problem problem() const { return model_.problem(); }
  void init(int slab, SlabOut out) const { model_.init(slab, out); }

  void run(Stage& s) const {
    const MoleculesIn own(s.in(0), model_.fields());
    const std::int64_t capacity = own.position.capacity;
    Advance advance{full_step(s), own.id, {model_.grid(), s.slab()}, model_.dt(), {}, s.faults()};
    advance.scratch.moved = s.scratch<Moved>(capacity);
    advance.scratch.up = s.scratch<std::int32_t>(capacity + 1);
    advance.scratch.down = s.scratch<std::int32_t>(capacity + 1);
    advance.scratch.scan = s.scratch<unsigned char>(static_cast<std::int64_t>(MigrateScratch::scan_bytes(capacity)));
    for_each(s, capacity, advance);
    report(s, advance.full);

    MoleculesOut regions[3];
    for (int d = -1; d <= 1; ++d) {
      if (s.has_neighbour(d)) regions[d + 1] = MoleculesOut(s.out(d), model_.fields());
    }
    distribute(s, own, regions, advance.scratch);
    s.set_flags(half_step_flag);
  }

  void merge(Stage& s) const {
    MoleculesIn regions[3];
    MergeScratch scratch;
    for (int d = -1; d <= 1; ++d) {
      regions[d + 1] = MoleculesIn(s.contribution(d), model_.fields());
      if (regions[d + 1]) scratch.cell[d + 1] = s.scratch<std::int32_t>(regions[d + 1].position.capacity);
    }
    const MoleculesOut to(s.out(0), model_.fields());
    const int cells = model_.grid().cells();
    scratch.number = s.scratch<std::int32_t>(cells);
    scratch.order = s.scratch<std::uint32_t>(to.position.capacity);
    scratch.scan = s.scratch<unsigned char>(static_cast<std::int64_t>(exclusive_scan_scratch_bytes(cells)));
    merge_regions(s, model_.grid(), regions, to, scratch);
  }

  void finish(Stage& s) const {
    const FullStep full = full_step(s);
    const auto velocity = s.out(0)[model_.fields().velocity];
    for_each(s, full.velocity.live(), Close{full, velocity});
    for_each(s, 1, detail::SetCounts{full.velocity.count_at, {velocity.count_at}});
    report(s, full);
    s.set_flags(0);
  }

  std::uint64_t digest(int, SlabIn slab) const { return model_.digest(slab); }
  std::vector<double> row(const StepSums& sums) const { return model_.row(sums); }
  std::unique_ptr<SnapshotWriter> open_snapshot(std::int64_t step, const std::string& folder) const {
    return model_.open_snapshot(step, folder);
  }
  std::string explain(const Fault& fault) const { return model_.explain(fault); }

 private:
  /// Mark of slices whose velocities are those of half a step earlier.
  static constexpr std::uint64_t half_step_flag = 1;

  FullStep full_step(Stage& s) const {
    const MoleculeFields& fields = model_.fields();
    FullStep full{{},
                  model_.pair(),
                  s.in(0)[fields.velocity],
                  0.5 * model_.dt() / model_.mass(),
                  (s.flags() & half_step_flag) != 0,
                  nullptr};
    full.around.grid = model_.grid();
    for (int d = -1; d <= 1; ++d) {
      full.around.position[d + 1] = s.in(d)[fields.position];
      full.around.cells[d + 1] = s.in(d)[fields.cells];
      full.around.shift[d + 1] = s.shift(d) * model_.grid().x.length;
    }
    if (s.observing() || s.snapshot()) full.samples = s.scratch<Sample>(full.velocity.capacity);
    return full;
  }

  /// Observables and snapshot, from the samples.
  void report(Stage& s, const FullStep& full) const {
    if (full.samples == nullptr) return;
    const Count live = full.velocity.live();
    if (s.observing()) {
      observe(s, model_.potential(), live, PotentialEnergy{full.samples});
      observe(s, model_.kinetic(), live, KineticEnergy{full.samples, 0.5 * model_.mass()});
      observe(s, model_.virial(), live, Virial{full.samples});
    }
    if (const SlabOut to = s.snapshot()) {
      const SnapshotFields& f = model_.snapshot_fields();
      const detail::TakeSnapshot take{
          MoleculesIn(s.in(0), model_.fields()), full.samples, to[f.id], to[f.position], to[f.velocity], to[f.force]};
      for_each(s, live, take);
      for_each(
          s, 1,
          detail::SetCounts{full.velocity.count_at,
                            {take.id.count_at, take.position.count_at, take.velocity.count_at, take.force.count_at}});
    }
  }

  Model model_;
};

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea::md
