// Molecular dynamics as a worker: velocity Verlet, neighbour lists, molecules that migrate between slabs.
//
// A program covers as many steps as lie between two sortings. In all but the last one molecules keep their places: the
// kind "step" reads one neighbour slab on each side and writes its own. The last one, "sort", contributes the molecules
// to the slabs they are in, and merge() sorts what has come to a slab into cells. finish() completes the velocities of
// the last step. Neighbour lists are side fields: the first worker of a process makes them, and whoever finds the
// molecules just sorted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsea/dsea.hpp"
#include "kernels/md/model.hpp"
#include "kernels/md/slab_step.hpp"

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
    force[i] = {s.fx, s.fy, s.fz, s.potential, s.virial};
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

struct SetNumber {
  double* to;
  double value;
  DSEA_FN void operator()(std::int64_t) const { *to = value; }
};

}  // namespace detail

class Md {
 public:
  explicit Md(const Config& config) : model_(config) {}

  const Model& model() const { return model_; }
  Problem problem() const { return model_.problem(); }
  void prepare(const Device& device) { model_.upload(device); }
  void init(int slab, SlabOut out) const { model_.init(slab, out); }

  void run(Stage& s) const {
    SlabStep step = begin(s);
    const MoleculeFields& f = model_.fields();
    if (s.kind() == model_.sort_kind()) {
      MoleculesOut regions[3];
      for (int d = -1; d <= 1; ++d) {
        if (s.has_neighbour(d)) regions[d + 1] = MoleculesOut(s.out(d), f);
      }
      step.advance_and_distribute(regions);
      for_each(s, 1, detail::SetNumber{s.out(0)[f.moved].data, 0.0});
    } else {
      const auto position = s.out(0)[f.position];
      const auto velocity = s.out(0)[f.velocity];
      step.advance(position.data, velocity.data, s.out(0)[f.moved].data);
      for_each(s, 1, detail::SetCounts{step.live().live, {position.count_at, velocity.count_at}});
    }
    report(s, step);
    s.set_flags(half_step_flag);
  }

  void merge(Stage& s) const {
    s.phase({static_cast<int>(StepPhase::merge)});
    MoleculesIn regions[3];
    for (int d = -1; d <= 1; ++d) regions[d + 1] = MoleculesIn(s.contribution(d), model_.fields());
    SlabStep::merge(s, model_.force_field(), regions, MoleculesOut(s.out(0), model_.fields()), arena(s));
  }

  void finish(Stage& s) const {
    SlabStep step = begin(s);
    const auto velocity = s.out(0)[model_.fields().velocity];
    step.close(velocity.data);
    for_each(s, 1, detail::SetCounts{step.live().live, {velocity.count_at}});
    report(s, step);
    s.set_flags(0);
  }

  std::uint64_t digest(int, SlabIn slab) const { return model_.digest(slab); }
  std::vector<double> row(const StepSums& sums) const { return model_.row(sums); }
  std::unique_ptr<SnapshotWriter> open_snapshot(std::int64_t step, const std::string& folder) const {
    return model_.open_snapshot(step, folder);
  }
  void close_output(const std::string& folder) const { model_.close_output(folder); }
  std::string explain(const Fault& fault) const { return model_.explain(fault); }

 private:
  /// Mark of slices whose velocities are those of half a step earlier.
  static constexpr std::uint64_t half_step_flag = 1;

  Arena arena(Stage& s) const {
    return Arena(s.scratch<std::byte>(static_cast<std::int64_t>(model_.problem().scratch_bytes)));
  }

  /// Everything up to the forces.
  SlabStep begin(Stage& s) const {
    const MoleculeFields& f = model_.fields();
    StepInput in;
    for (int d = -1; d <= 1; ++d) {
      in.slab[d + 1] = MoleculesIn(s.in(d), f);
      in.moved[d + 1] = s.in(d)[f.moved].data;
      in.shift[d + 1] = s.shift(d) * model_.force_field().grid.x.length;
    }
    in.number = s.slab();
    in.step = s.step();
    in.half_step = (s.flags() & half_step_flag) != 0;
    in.faults = s.faults();
    SlabStep step(s, model_.force_field(), in, arena(s),
                  {&s, [](const void* stage, StepPhase phase) {
                     static_cast<const Stage*>(stage)->phase({static_cast<int>(phase)});
                   }});
    const ListFieldsOf& list = model_.list_fields();
    if (!list.on) {
      step.no_lists();
    } else if (s.makes_side()) {
      const SlabOut out = s.out(0);
      step.make_lists({out[list.rows].data, out[list.number].data, out[list.entries].data, out[list.moved].data});
    } else {
      const SlabIn side = s.in(0);
      step.use_lists({side[list.rows].data, side[list.number].data, side[list.entries].data, side[list.moved].data});
    }
    if (s.observing() || s.snapshot()) step.observe();
    return step;
  }

  /// Observables and snapshot, from the samples.
  void report(Stage& s, const SlabStep& step) const {
    if (step.samples() == nullptr) return;
    s.phase({static_cast<int>(StepPhase::look)});
    const Sample* samples = step.samples();
    const MoleculesIn own(s.in(0), model_.fields());
    if (s.observing()) {
      observe(s, model_.potential(), step.live(), PotentialEnergy{samples});
      observe(s, model_.kinetic(), step.live(),
              KineticEnergy{samples, own.position.data, model_.force_field().types.view()});
      observe(s, model_.virial(), step.live(), Virial{samples});
    }
    if (const SlabOut to = s.snapshot()) {
      const SnapshotFields& f = model_.snapshot_fields();
      const detail::TakeSnapshot take{own, samples, to[f.id], to[f.position], to[f.velocity], to[f.force]};
      for_each(s, step.live(), take);
      for_each(
          s, 1,
          detail::SetCounts{step.live().live,
                            {take.id.count_at, take.position.count_at, take.velocity.count_at, take.force.count_at}});
    }
  }

  Model model_;
};

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea::md
