// One step of one slab, as calls on a stream: what a worker, a test without a ring and a bench have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dsea/device/reduce.hpp"
#include "kernels/cell_list/merge.hpp"
#include "kernels/cell_list/migrate.hpp"
#include "kernels/md/force_field.hpp"
#include "kernels/md/rescale.hpp"
#include "kernels/md/step.hpp"

namespace dsea::md {

/// The rows and the list of a slab: side fields. Null where lists are off.
template <class Int, class Double>
struct ListFields {
  Int* rows = nullptr;
  Int* number = nullptr;
  Int* entries = nullptr;
  Double* moved_then = nullptr;
};
using ListIn = ListFields<const std::int32_t, const double>;
using ListOut = ListFields<std::int32_t, double>;

/// What a step sees; slabs i-1, i, i+1, false where there is none.
struct StepInput {
  MoleculesIn slab[3];
  const double* moved[3] = {};
  double shift[3] = {};
  int number = 0;  ///< of the slab
  std::int64_t step = 0;
  bool half_step = false;  ///< velocities are behind by half a step
  FaultReporter faults;
};

/// Parts of a step whose time is worth knowing, and their names.
enum class StepPhase { pack, list, force, sort, merge, look };
inline constexpr const char* step_phase_names[] = {"pack", "list", "force and integrate", "sort", "merge", "observe"};

/// Is told when a phase begins; nobody by default.
struct PhaseHook {
  const void* who = nullptr;
  void (*begin)(const void* who, StepPhase phase) = nullptr;
  void operator()(StepPhase phase) const {
    if (begin != nullptr) begin(who, phase);
  }
};

class SlabStep {
 public:
  /// Bytes of the arena that the calls below take at most, and those of merge(), for slabs of `capacity` molecules of
  /// which `away` may go to each neighbour.
  static std::size_t scratch_bytes(const ForceField& field, std::int64_t capacity, std::int64_t away) {
    Arena step;
    take_packed(step, field, capacity);
    take_after(step, field, capacity);
    take_migrate(step, capacity);
    Arena merge;
    take_merge(merge, field.grid, capacity, away);
    return std::max(step.used(), merge.used());
  }

  SlabStep(Stream& stream, const ForceField& field, const StepInput& in, Arena arena, PhaseHook hook = {})
      : stream_(stream), field_(field), in_(in), arena_(arena), hook_(hook), live_(in.slab[1].position.live()) {
    packed_ = take_packed(arena_, field, capacity());
    after_ = take_after(arena_, field, capacity());
    for (int d = 0; d < 3; ++d) {
      around_.position[d] = in.slab[d].position;
      around_.cells[d] = in.slab[d].cells;
      around_.shift[d] = in.shift[d];
    }
    job_.pairs = {field.pairs.view(), field.type_count()};
    Integrate& to = job_.integrate;
    to.position = in.slab[1].position.data;
    to.velocity = in.slab[1].velocity.data;
    to.id = in.slab[1].id.data;
    to.types = field.types.view();
    to.axes[0] = field.grid.x;
    to.axes[1] = field.grid.y;
    to.axes[2] = field.grid.z;
    to.dt = field.dt;
    to.half_step = in.half_step;
    to.gravity = field.gravity;
    to.langevin = field.langevin;
    to.langevin.step += in.step;
    to.faults = in.faults;
  }

  Count live() const { return live_; }
  std::int64_t capacity() const { return in_.slab[1].position.capacity; }
  const NeighbourList& list() const { return job_.list; }
  /// By molecule, once forces have been found with observe().
  const Sample* samples() const { return job_.integrate.samples; }

  /// Packs the surroundings and makes the list.
  void make_lists(const ListOut& list) {
    find_rows(stream_, shape(), around_, list.rows);
    use_rows(list.rows);
    const double reach = field_.cutoff + field_.skin;
    const ListMaker make{job_.packed,
                         reach * reach,
                         {list.number, list.entries, list.moved_then, field_.list_stride},
                         {in_.moved[0], in_.moved[1], in_.moved[2]},
                         list_memory(reach)};
    hook_(StepPhase::list);
    make_list(stream_, live_, make);
    use_list(list.number, list.entries, list.moved_then);
  }
  /// Packs the surroundings for a list that was made before.
  void use_lists(const ListIn& list) {
    use_rows(list.rows);
    use_list(list.number, list.entries, list.moved_then);
  }
  /// Packs the surroundings; sums will be plain.
  void no_lists() {
    find_rows(stream_, shape(), around_, packed_.rows);
    use_rows(packed_.rows);
  }

  /// Samples will be there after the step.
  void observe() { job_.integrate.samples = after_.samples; }

  /// The step between two sortings: new positions and velocities at the same places.
  void advance(Position* position, Velocity* velocity, double* moved) {
    run(position, velocity);
    note_moved(position, velocity, moved, field_.margin);
  }

  /// The step before a sorting: molecules go to the regions of slabs i-1, i, i+1.
  void advance_and_distribute(const MoleculesOut (&regions)[3]) {
    const MigrateScratch scratch = take_migrate(arena_, capacity());
    run(scratch.position, scratch.velocity);
    note_moved(scratch.position, scratch.velocity, after_.moved, field_.width);
    hook_(StepPhase::sort);
    distribute(stream_, field_.grid, in_.number, in_.slab[1], regions, scratch);
  }

  /// The closing pass: velocities at the full step.
  void close(Velocity* velocity) { run(nullptr, velocity); }

  /// The end of the step before a sorting: what came to a slab is sorted.
  static void merge(Stream& stream, const ForceField& field, const MoleculesIn (&from)[3], const MoleculesOut& to,
                    Arena arena) {
    std::int64_t away = 0;
    for (int d : {0, 2}) away = std::max(away, from[d].position.capacity);
    merge_regions(stream, field.grid, from, to, take_merge(arena, field.grid, to.position.capacity, away));
  }

 private:
  struct PackedMemory {
    Position* position;
    std::int32_t* rows;
    float* floats;  // three times the places
  };
  struct AfterMemory {
    Sample* samples;
    double* moved;
    double* squared_speed;
    double* factors;
    void* reduce;
  };

  static PackedMemory take_packed(Arena& arena, const ForceField& field, std::int64_t capacity) {
    const PackedShape shape(field.grid);
    const std::int64_t places = shape.capacity(capacity);
    return {arena.take<Position>(places), arena.take<std::int32_t>(shape.rows() + 1),
            field.skin > 0 ? arena.take<float>(3 * (places + MakeListMemory::beyond)) : nullptr};
  }
  static AfterMemory take_after(Arena& arena, const ForceField& field, std::int64_t capacity) {
    return {arena.take<Sample>(capacity), arena.take<double>(1), arena.take<double>(1),
            arena.take<double>(3 * field.type_count()), arena.take_bytes(reduce_scratch_bytes(capacity))};
  }
  static MigrateScratch take_migrate(Arena& arena, std::int64_t capacity) {
    return {arena.take<Position>(capacity), arena.take<Velocity>(capacity), arena.take<std::int32_t>(capacity + 1),
            arena.take<std::int32_t>(capacity + 1), arena.take_bytes(MigrateScratch::scan_bytes(capacity))};
  }
  static MergeScratch take_merge(Arena& arena, const CellGrid& grid, std::int64_t capacity, std::int64_t away) {
    MergeScratch scratch;
    for (int d = 0; d < 3; ++d) scratch.cell[d] = arena.take<std::int32_t>(d == 1 ? capacity : away);
    scratch.number = arena.take<std::int32_t>(grid.cells());
    scratch.order = arena.take<std::uint32_t>(capacity);
    scratch.scan = arena.take_bytes(exclusive_scan_scratch_bytes(grid.cells()));
    return scratch;
  }

  MakeListMemory list_memory(double reach) const {
    const std::int64_t places = shape().capacity(capacity()) + MakeListMemory::beyond;
    MakeListMemory memory{packed_.floats, packed_.floats + places, packed_.floats + 2 * places, 0};
    // A coordinate of the packed array is at most `extent`, and rounding it may add 2^-24 of that.
    double extent = 0;
    for (const Axis* axis : {static_cast<const Axis*>(&field_.grid.x), &field_.grid.y, &field_.grid.z}) {
      extent = std::max({extent, std::abs(axis->lo) + axis->length + reach, std::abs(axis->hi) + axis->length + reach});
    }
    const double wrong = 0x1p-22 * extent;
    memory.reach2 = static_cast<float>((reach + 4 * wrong) * (reach + 4 * wrong) * (1 + 0x1p-20));
    return memory;
  }

  PackedShape shape() const { return PackedShape(field_.grid); }

  void use_rows(const std::int32_t* rows) {
    hook_(StepPhase::pack);
    job_.packed = pack(stream_, shape(), around_, rows, packed_.position);
  }

  void use_list(const std::int32_t* number, const std::int32_t* entries, const double* moved_then) {
    NeighbourList& list = job_.list;
    list.number = number;
    list.entries = entries;
    list.moved_then = moved_then;
    list.stride = field_.list_stride;
    list.skin = field_.skin;
    for (int d = 0; d < 3; ++d) list.moved[d] = in_.moved[d];
  }

  void run(Position* position, Velocity* velocity) {
    hook_(StepPhase::force);
    Integrate& to = job_.integrate;
    const auto leave_behind = [&] {
      to.to_position = position;
      to.to_velocity = velocity;
    };
    if (field_.rescale.on)
      observe();
    else
      leave_behind();
    with_law(field_.law, [this](auto law) { step<decltype(law)>(stream_, live_, job_); });
    if (!field_.rescale.on) return;
    rescale(stream_, live_, field_.rescale.temperature, field_.rescale.each_type, field_.type_count(), to,
            after_.factors, after_.reduce);
    leave_behind();
    for_each(stream_, live_, detail::GoOn{to});
  }

  void note_moved(Position* position, Velocity* velocity, double* moved, double limit) {
    reduce(stream_, live_, SquaredSpeed{velocity}, after_.squared_speed, ReduceOp::max, after_.reduce);
    for_each(stream_, 1,
             detail::AddMoved{after_.squared_speed, in_.moved[1], moved, field_.dt, limit, position,
                              in_.slab[1].cells.data, in_.slab[1].id.data, field_.grid, in_.number, in_.faults});
  }

  Stream& stream_;
  const ForceField& field_;
  StepInput in_;
  Arena arena_;
  PhaseHook hook_;
  Count live_;
  PackedMemory packed_{};
  AfterMemory after_{};
  Surroundings around_;
  StepJob job_;
};

}  // namespace dsea::md
