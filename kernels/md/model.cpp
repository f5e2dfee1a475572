#include "kernels/md/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dsea/base/error.hpp"
#include "dsea/base/hash.hpp"
#include "dsea/base/text.hpp"
#include "dsea/device/reduce.hpp"
#include "dsea/device/scan.hpp"
#include "kernels/md/output.hpp"
#include "kernels/md/slab_step.hpp"
#include "kernels/md/sorting.hpp"

namespace dsea::md {

namespace {

std::array<int, 3> user_images(const std::array<int, 3>& axes, std::uint64_t tag) {
  return user_axes(axes, tag_image(tag, 0), tag_image(tag, 1), tag_image(tag, 2));
}

std::uint64_t bits(double value) {
  std::uint64_t b = 0;
  std::memcpy(&b, &value, sizeof(b));
  return b;
}

double volume(const std::array<double, 3>& lengths) { return lengths[0] * lengths[1] * lengths[2]; }

/// Molecule steps a second of one core, from the neighbours within the cut-off; two fluids in bench/README.md.
double usual_core_rate(double cutoff, double density, bool lists) {
  const double neighbours = 4.18879 * cutoff * cutoff * cutoff * density;
  return 1e9 / (45 + (lists ? 5 : 12) * neighbours);
}

}  // namespace

Model::Model(const Config& config) : settings_(config), start_(settings_) {
  choose_forces();
  capacity_ = (slab_capacity(start_.most_in_a_slab(), settings_.spare, start_.molecules()) + 7) / 8 * 8;
  away_ = std::min<std::int64_t>(capacity_, std::max<std::int64_t>(512, capacity_ / 4));
  choose_lists();
  describe();
}

void Model::choose_forces() {
  const int types = start_.types();
  const PairSettings pairs(settings_.origin, settings_.law, types);
  std::vector<PairRow> rows;
  const std::vector<std::string> laws = law_names();
  field_.law.index = static_cast<int>(std::find(laws.begin(), laws.end(), settings_.law) - laws.begin());
  double cutoff2 = 0;
  with_law(field_.law, [&](auto law) {
    for (int a = 1; a <= types; ++a) {
      for (int b = 1; b <= types; ++b) {
        rows.push_back(decltype(law)::coefficients(pairs, a, b));
        cutoff2 = std::max(cutoff2, rows.back().c[0]);
      }
    }
  });
  field_.cutoff = std::sqrt(cutoff2);
  field_.pairs = Table<PairRow>(std::move(rows));
  field_.dt = settings_.dt;

  double lightest = start_.masses()[0];
  for (double m : start_.masses()) lightest = std::min(lightest, m);
  const double hottest = std::max({start_.temperature(), settings_.ensemble_temperature(), 0.5});
  const auto lengths = start_.lengths();
  double speed = largest_speed(hottest, lightest);
  for (std::size_t axis = 0; axis < 3; ++axis) {  // and falls from one wall to the other
    double most = 0;
    for (int type = 1; type <= types; ++type) most = std::max(most, std::abs(settings_.gravity(axis, type, types)));
    speed = std::sqrt(speed * speed + 2 * most * lengths[axis]);
  }
  Sorting sorting = choose_sorting(settings_.dt, speed, field_.cutoff, lengths, settings_.periodic);
  if (settings_.sort_every) {
    sorting = {*settings_.sort_every, margin_for(*settings_.sort_every, settings_.dt, speed)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double reach = field_.cutoff + 2 * sorting.margin;
      if (!settings_.periodic[axis] || lengths[axis] >= reach || lengths[axis] < field_.cutoff) continue;
      settings_.origin.fail("neighbour.every",
                            cat("molecules that are sorted every ", sorting.every, " steps need a box of at least ",
                                reach, " along the periodic axis ", "xyz"[axis], ", but it is ", lengths[axis],
                                ": set a smaller number, or \"auto\""));
    }
  }
  sort_every_ = sorting.every;
  start_.cut(field_.cutoff, field_.cutoff + 2 * sorting.margin);
  field_.grid = start_.grid();
  field_.slab_edges = start_.slab_edges();
  const Widths widths = widths_of(field_.grid, field_.cutoff);
  field_.margin = widths.margin;
  field_.width = widths.narrowest;
  // A sixth of the largest speed is what most molecules have: then nearly all would be lost in the first step.
  if (settings_.dt * speed / 6 > widths.narrowest) {
    settings_.origin.fail("time.dt", cat(settings_.dt, " is impossible: molecules would move by about ",
                                         settings_.dt * speed / 6, " in a step, farther than a slab or cell is wide (",
                                         widths.narrowest, "): make it smaller, or the temperature lower"));
  }

  std::vector<TypeRow> type_rows;
  const bool langevin = settings_.ensemble == "langevin";
  field_.langevin.on = langevin;
  field_.langevin.seed = settings_.seed;
  field_.langevin.step = start_.first_step();
  for (std::size_t k = 0; k < 3; ++k) field_.langevin.axes[k] = start_.axes()[k];
  field_.langevin.keep = langevin ? std::exp(-settings_.dt / settings_.damp) : 1.0;
  const double fresh = 1.0 - field_.langevin.keep * field_.langevin.keep;
  for (int type = 1; type <= types; ++type) {
    TypeRow row;
    row.mass = start_.masses()[static_cast<std::size_t>(type - 1)];
    row.kick = 0.5 * settings_.dt / row.mass;
    row.noise = langevin ? std::sqrt(fresh * settings_.temperature_wanted / row.mass) : 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double g = settings_.gravity(static_cast<std::size_t>(start_.axes()[k]), type, types);
      row.gravity[k] = 0.5 * settings_.dt * g;
      field_.gravity = field_.gravity || g != 0;
    }
    type_rows.push_back(row);
  }
  field_.types = Table<TypeRow>(std::move(type_rows));
  field_.rescale = {settings_.ensemble == "rescale", settings_.temperature_wanted, settings_.rescale_each_type};
}

void Model::choose_lists() {
  field_.skin = settings_.skin;
  lists_.on = settings_.skin > 0 && sort_every_ > 1;
  if (!lists_.on) return;
  // Room for the neighbours in a dense liquid, or in the fullest slab; who has more goes without a list.
  const double density = std::max(1.15 * start_.highest_density(), 0.95);
  const double reach = field_.cutoff + field_.skin;
  const double expected = 4.18879 * reach * reach * reach * density + 20.0;
  const double most = std::min(expected, static_cast<double>(start_.molecules()));
  field_.list_stride = std::min(4096, (static_cast<int>(most) / 8 + 1) * 8);
}

void Model::describe() {
  Problem& p = problem_;
  p.slabs = grid().slabs();
  p.periodic = grid().x.periodic;
  p.dt = settings_.dt;
  p.elements = start_.molecules();
  p.element_name = "molecules";
  p.core_rate = usual_core_rate(field_.cutoff, static_cast<double>(p.elements) / volume(start_.lengths()), lists_.on);
  fields_ = MoleculeFields::add_to(p.layout, capacity_, grid().cells());
  p.layout.on_overflow("raise system.spare");
  if (lists_.on) {
    const std::int64_t groups = (capacity_ + NeighbourList::group - 1) / NeighbourList::group;
    lists_.rows = p.layout.side_grid<std::int32_t>("rows", PackedShape(grid()).rows() + 1);
    lists_.number = p.layout.side_grid<std::int32_t>("number of neighbours", groups * NeighbourList::group);
    lists_.entries = p.layout.side_grid<std::int32_t>("neighbours", groups * NeighbourList::group * field_.list_stride);
    lists_.moved = p.layout.side_grid<double>("moved when listed", 3);
  }
  snapshot_ = {p.snapshot.list<std::int64_t>("id", capacity_), p.snapshot.list<Position>("position", capacity_),
               p.snapshot.list<Velocity>("velocity", capacity_), p.snapshot.list<ForceEnergy>("force", capacity_)};
  const OutputSettings output(settings_.origin);
  p.profiles_from = output.when.profile_from;
  p.last_snapshot = output.when.last;
  output_ = std::make_shared<Output>(output, start_, snapshot_);
  potential_ = p.observable("potential energy");
  kinetic_ = p.observable("kinetic energy");
  virial_ = p.observable("virial");
  const Kind step =
      Kind("step", 1, 0).reads(fields_.id, fields_.cells).observes(potential_).observes(kinetic_).observes(virial_);
  p.kinds.assign(static_cast<std::size_t>(sort_every_ - 1), step);
  p.kinds.push_back(Kind("sort", 1, 1)
                        .contributes(fields_.position, away_)
                        .contributes(fields_.velocity, away_)
                        .contributes(fields_.id, away_)
                        .contributes(fields_.cells)
                        .observes(potential_)
                        .observes(kinetic_)
                        .observes(virial_));
  p.program_steps = sort_every_;
  if (lists_.on) p.side_every = sort_every_;
  p.finish = Kind("half kick", 1, 0)
                 .reads(fields_.position, fields_.id, fields_.cells, fields_.moved)
                 .observes(potential_)
                 .observes(kinetic_)
                 .observes(virial_);
  for (const char* name : step_phase_names) p.phase(name);
  p.scratch_bytes = SlabStep::scratch_bytes(field_, capacity_, away_);
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
  return output_->open(step, folder);
}

void Model::close_output(const std::string& folder) const { output_->close(folder); }

std::string Model::explain(const Fault& fault) const {
  const std::string who = cat("molecule ", fault.element, " in slab ", fault.slab, " at step ", fault.step);
  if (fault.code == static_cast<int>(MdFault::not_finite)) {
    return cat(who, " got a position that is not a finite number: do molecules overlap at the start, or is time.dt = ",
               settings_.dt, " too large?");
  }
  return cat(who, " moved too far from its cell since molecules were sorted (every ", sort_every_,
             " steps): do molecules overlap at the start, is time.dt = ", settings_.dt,
             " too large, or has the temperature risen much since the start? A smaller neighbour.every allows more");
}

}  // namespace dsea::md
