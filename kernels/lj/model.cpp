#include "kernels/lj/model.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "dsea/base/hash.hpp"
#include "dsea/base/text.hpp"
#include "dsea/device/reduce.hpp"
#include "dsea/device/scan.hpp"
#include "kernels/lammps_io/dump_file.hpp"
#include "kernels/lj/md_scratch.hpp"

namespace dsea::md {

namespace {

/// Internal axes to the user's.
template <class T>
std::array<T, 3> user_axes(const std::array<int, 3>& axes, T x, T y, T z) {
  std::array<T, 3> result{};
  const T values[] = {x, y, z};
  for (std::size_t k = 0; k < 3; ++k) result[static_cast<std::size_t>(axes[k])] = values[k];
  return result;
}

std::array<int, 3> user_images(const std::array<int, 3>& axes, std::uint64_t tag) {
  return user_axes(axes, tag_image(tag, 0), tag_image(tag, 1), tag_image(tag, 2));
}

std::uint64_t bits(double value) {
  std::uint64_t b = 0;
  std::memcpy(&b, &value, sizeof(b));
  return b;
}

class DumpWriter final : public SnapshotWriter {
 public:
  DumpWriter(const std::string& path, const lammps::DumpHeader& header, const SnapshotFields& fields,
             const std::array<int, 3>& axes)
      : file_(path, header), fields_(fields), axes_(axes) {}

  void slab(int /*slab*/, SlabIn data) override {
    const auto id = data[fields_.id];
    const auto position = data[fields_.position];
    const auto velocity = data[fields_.velocity];
    const auto force = data[fields_.force];
    for (std::int64_t i = 0; i < id.count(); ++i) {
      const Position& p = position[i];
      const Velocity& v = velocity[i];
      const ForceEnergy& f = force[i];
      file_.add({id[i], tag_type(p.tag), user_axes(axes_, p.x, p.y, p.z), user_axes(axes_, v.x, v.y, v.z),
                 user_axes(axes_, f.x, f.y, f.z), user_images(axes_, p.tag)});
    }
  }
  void close() override { file_.close(); }

 private:
  lammps::DumpFile file_;
  SnapshotFields fields_;
  std::array<int, 3> axes_;
};

}  // namespace

Model::Model(const Config& config)
    : settings_(config),
      start_(settings_),
      pair_(settings_.epsilon, settings_.sigma, settings_.cutoff, settings_.shift),
      capacity_(slab_capacity(start_.most_in_a_slab(), settings_.spare, start_.molecules())),
      away_(std::min<std::int64_t>(capacity_, std::max<std::int64_t>(512, capacity_ / 8))) {
  describe();
}

void Model::describe() {
  Problem& p = problem_;
  p.slabs = grid().slabs();
  p.periodic = grid().x.periodic;
  p.dt = settings_.dt;
  p.elements = start_.molecules();
  p.element_name = "molecules";
  fields_ = MoleculeFields::add_to(p.layout, capacity_, grid().cells());
  snapshot_ = {p.snapshot.list<std::int64_t>("id", capacity_), p.snapshot.list<Position>("position", capacity_),
               p.snapshot.list<Velocity>("velocity", capacity_), p.snapshot.list<ForceEnergy>("force", capacity_)};
  potential_ = p.observable("potential energy");
  kinetic_ = p.observable("kinetic energy");
  virial_ = p.observable("virial");
  p.kinds = {Kind("step", 1, 1)
                 .contributes(fields_.position, away_)
                 .contributes(fields_.velocity, away_)
                 .contributes(fields_.id, away_)
                 .contributes(fields_.cells)
                 .observes(potential_)
                 .observes(kinetic_)
                 .observes(virial_)};
  p.finish = Kind("half kick", 1, 0)
                 .reads(fields_.position, fields_.id, fields_.cells)
                 .observes(potential_)
                 .observes(kinetic_)
                 .observes(virial_);
  p.scratch_bytes = md_scratch_bytes(capacity_, away_, grid().cells());
  p.columns = {"Temp", "E_pair", "TotEng", "Press", "KinEng", "Virial"};
}

void Model::init(int slab, SlabOut out) const { start_.fill(slab, MoleculesOut(out, fields_)); }

std::uint64_t Model::digest(SlabIn slab) const {
  const auto& axes = start_.axes();
  const auto id = slab[fields_.id];
  const auto position = slab[fields_.position];
  const auto velocity = slab[fields_.velocity];
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < id.count(); ++i) {
    const Position& p = position[i];
    const Velocity& v = velocity[i];
    const auto images = user_images(axes, p.tag);
    std::uint64_t h =
        hash_combine(static_cast<std::uint64_t>(id[i]), make_tag(tag_type(p.tag), images[0], images[1], images[2]));
    for (double x : user_axes(axes, p.x, p.y, p.z)) h = hash_combine(h, bits(x));
    for (double x : user_axes(axes, v.x, v.y, v.z)) h = hash_combine(h, bits(x));
    sum += h;
  }
  return sum;
}

std::vector<double> Model::row(const StepSums& sums) const {
  const auto n = static_cast<double>(start_.molecules());
  if (n == 0) return std::vector<double>(problem_.columns.size(), 0.0);
  const double kinetic = sums[kinetic_];
  const double potential = sums[potential_];
  const double virial = sums[virial_];
  const double freedom = 3.0 * n - 3.0;  // the centre of mass is not counted, as in LAMMPS
  const double temperature = freedom > 0 ? 2.0 * kinetic / freedom : 0.0;
  const double pressure = (2.0 * kinetic + virial) / (3.0 * grid().volume());
  return {temperature, potential / n, (kinetic + potential) / n, pressure, kinetic / n, virial / n};
}

std::unique_ptr<SnapshotWriter> Model::open_snapshot(std::int64_t step, const std::string& folder) const {
  const auto& axes = start_.axes();
  const CellGrid& g = grid();
  lammps::DumpHeader header;
  header.step = step;
  header.molecules = start_.molecules();
  header.lo = user_axes(axes, g.x.lo, g.y.lo, g.z.lo);
  header.hi = user_axes(axes, g.x.hi, g.y.hi, g.z.hi);
  header.periodic = user_axes(axes, g.x.periodic, g.y.periodic, g.z.periodic);
  const auto path = std::filesystem::path(folder) / lammps::dump_name(step);
  return std::make_unique<DumpWriter>(path.string(), header, snapshot_, axes);
}

std::string Model::explain(const Fault& fault) const {
  const std::string who = cat("molecule ", fault.element, " in slab ", fault.slab, " at step ", fault.step);
  if (fault.code == static_cast<int>(MdFault::not_finite)) {
    return cat(who, " got a position that is not a finite number: do molecules overlap at the start, or is time.dt = ",
               settings_.dt, " too large?");
  }
  return cat(who, " moved across more than one slab or cell in one step: do molecules overlap at the start, or is ",
             "time.dt = ", settings_.dt, " too large?");
}

}  // namespace dsea::md
