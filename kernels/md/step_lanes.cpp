// Forces of four molecules at a time: each lane is a molecule and walks its own list, so its sum runs in the same order
// as a single molecule's, and has the same bits. A neighbour is one load of 32 bytes (x, y, z, tag); four of them are
// turned into lanes by a transposition in registers.
#include <algorithm>

#include "dsea/device/for_each_row.hpp"
#include "kernels/md/lanes_simd.hpp"
#include "kernels/md/step.hpp"

namespace dsea::md {

namespace {

#define DSEA_INLINE __attribute__((always_inline)) inline

/// Coefficients of four pairs: constants if all molecules are of one type, else looked up.
template <bool one_type>
struct LaneCoefficients;

template <>
struct LaneCoefficients<true> {
  Lanes c[PairRow::size];
  DSEA_INLINE LaneCoefficients(const PairTable& table, const Lanes& /*own_tag*/, int /*molecules*/) {
    for (int k = 0; k < PairRow::size; ++k) c[k] = Lanes(table.rows[0].c[k]);
  }
  DSEA_INLINE const Lanes* of(const Lanes& /*tag*/) { return c; }
};

template <>
struct LaneCoefficients<false> {
  const PairRow* rows;
  Lanes::Integers own;  // first row of each lane's type
  Lanes c[PairRow::size];
  DSEA_INLINE LaneCoefficients(const PairTable& table, const Lanes& own_tag, int molecules) : rows(table.rows - 1) {
    Lanes::Integers type = own_tag.bits() & 0xffff;
    for (int lane = molecules; lane < Lanes::width; ++lane) type[lane] = 1;  // nobody's: any row will do
    own = (type - 1) * table.types;
  }
  DSEA_INLINE const Lanes* of(const Lanes& tag) {
    // The far-away molecule is of type 0: it may use any row.
    const Lanes::Integers type = tag.bits() & 0xffff;
    const Lanes::Integers at = own + (type == 0 ? type + 1 : type);
    for (int half = 0; half < 2; ++half) {
      Lanes* to = c + 4 * half;
      for (int lane = 0; lane < 4; ++lane) to[lane] = Lanes::load(rows[at[lane]].c + 4 * half);
      Lanes::transpose(to[0], to[1], to[2], to[3]);
    }
    return c;
  }
};

struct LaneSums {
  double x[Lanes::width], y[Lanes::width], z[Lanes::width], energy[Lanes::width], virial[Lanes::width];
};

// What is not the inner loop stays out of the function that has it: registers are scarce there.
template <class Law>
__attribute__((noinline)) void step_one_by_one(const StepJob& job, std::int64_t first, int n) {
  for (int l = 0; l < n; ++l) job.integrate(first + l, list_sums<Law>(job.packed, job.pairs, job.list, first + l));
}
template <bool energies>
__attribute__((noinline)) void integrate_lanes(const Integrate& integrate, std::int64_t first, int n,
                                               const LaneSums& sums) {
  for (int l = 0; l < n; ++l) {
    PairSums own{sums.x[l], sums.y[l], sums.z[l], 0, 0};
    if constexpr (energies) {
      own.energy = sums.energy[l];
      own.virial = sums.virial[l];
    }
    integrate(first + l, own);
  }
}

template <class Law, bool one_type, bool energies>
struct StepLanes {
  static constexpr std::int64_t grain = 64;
  const StepJob& job;
  std::int64_t molecules;

  DSEA_INLINE void operator()(std::int64_t group, std::int64_t /*column*/) const {
    const std::int64_t first = group * Lanes::width;
    const int n = static_cast<int>(std::min<std::int64_t>(Lanes::width, molecules - first));
    int longest = 0;
    for (int l = 0; l < n; ++l) longest = std::max(longest, job.list.number[first + l]);
    if (longest > job.list.stride) return step_one_by_one<Law>(job, first, n);
    LaneSums sums;
    add_lanes(first, n, longest, sums);
    integrate_lanes<energies>(job.integrate, first, n, sums);
  }

  /// Lanes beyond the last molecule compute something that nobody looks at.
  DSEA_INLINE void add_lanes(std::int64_t first, int n, int longest, LaneSums& sums) const {
    // Positions are taken from the slab itself: its shift is 0, and adding 0 changes no bit but the sign of a zero.
    const Position* own = job.integrate.position + first;
    Lanes x = Lanes::load(own), y = Lanes::load(own + 1), z = Lanes::load(own + 2), tag = Lanes::load(own + 3);
    Lanes::transpose(x, y, z, tag);
    Lanes fx(0.0), fy(0.0), fz(0.0), energy(0.0), virial(0.0);
    const Position* positions = job.packed.position;
    const std::int32_t* entry = job.list.entries + job.list.first_entry(first);
    const std::int32_t* const end = entry + longest * NeighbourList::group;
    LaneCoefficients<one_type> coefficients(job.pairs, tag, n);
    const std::int64_t next_group = static_cast<std::int64_t>(job.list.stride) * NeighbourList::group;
    for (; entry != end; entry += NeighbourList::group) {
      __builtin_prefetch(entry + next_group);  // lists do not touch each other, so the processor does not guess
      Lanes ox = Lanes::load(positions + entry[0]), oy = Lanes::load(positions + entry[1]),
            oz = Lanes::load(positions + entry[2]), other_tag = Lanes::load(positions + entry[3]);
      Lanes::transpose(ox, oy, oz, other_tag);
      const Lanes dx = x - ox, dy = y - oy, dz = z - oz;
      const Lanes r2 = dx * dx + dy * dy + dz * dz;
      const auto* c = coefficients.of(other_tag);
      const auto near = Lanes::less(r2, c[0]);
      const PairValue<Lanes> value = Law::evaluate(r2, c);
      const Lanes f = value.force_over_r.where(near);
      fx = fx + f * dx;
      fy = fy + f * dy;
      fz = fz + f * dz;
      if constexpr (energies) {
        energy = energy + value.energy.where(near);
        virial = virial + f * r2;
      }
    }
    fx.store(sums.x);
    fy.store(sums.y);
    fz.store(sums.z);
    if constexpr (energies) {
      energy.store(sums.energy);
      virial.store(sums.virial);
    }
  }
};

template <class Law, bool one_type>
void run_lanes(Isa isa, int threads, std::int64_t molecules, const StepJob& job) {
  const std::int64_t groups = (molecules + Lanes::width - 1) / Lanes::width;
  const auto run = [&](const auto& f) {
    parallel_ranges(threads, groups, f.grain,
                    [&](std::int64_t begin, std::int64_t end) { kernel_detail::rows_by_isa(isa, f, begin, end, 1); });
  };
  if (job.integrate.samples != nullptr)
    run(StepLanes<Law, one_type, true>{job, molecules});
  else
    run(StepLanes<Law, one_type, false>{job, molecules});
}

}  // namespace

template <class Law>
void step_lanes(Stream& stream, Count molecules, const StepJob& job) {
  const Device& device = stream.device();
  stream.host_run([job, molecules, threads = device.threads(), isa = device.isa()] {
    const std::int64_t n = molecules.value();
    if (!job.list.holds_all()) {
      parallel_ranges(threads, n, StepMolecule<Law>::grain, [&](std::int64_t begin, std::int64_t end) {
        kernel_detail::for_each_range(StepMolecule<Law>{job}, begin, end);
      });
    } else if (job.pairs.types == 1) {
      run_lanes<Law, true>(isa, threads, n, job);
    } else {
      run_lanes<Law, false>(isa, threads, n, job);
    }
  });
}

#define DSEA_MAKE_LANES(Law) template void step_lanes<Law>(Stream&, Count, const StepJob&);
DSEA_PAIR_LAWS(DSEA_MAKE_LANES)
#undef DSEA_MAKE_LANES

}  // namespace dsea::md
