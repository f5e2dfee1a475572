// Forces of four or eight molecules at a time: each lane is a molecule and walks its own list, so its sum runs in the
// same order as a single molecule's, and has the same bits. A neighbour is one load of 32 bytes (x, y, z, tag); those
// of all lanes are transposed in registers.
#include <algorithm>

#include "dsea/device/for_each_row.hpp"
#include "kernels/md/lanes_simd.hpp"
#include "kernels/md/step.hpp"

namespace dsea::md {

namespace {

/// Coefficients of pairs: constants if all molecules are of one type, else looked up.
template <int N, bool one_type>
struct LaneCoefficients;

template <int N>
struct LaneCoefficients<N, true> {
  Lanes<N> c[PairRow::size];
  DSEA_INLINE LaneCoefficients(const PairTable& table, const Lanes<N>& /*own_tag*/, int /*molecules*/) {
    for (int k = 0; k < PairRow::size; ++k) c[k] = Lanes<N>(table.rows[0].c[k]);
  }
  DSEA_INLINE const Lanes<N>* of(const Lanes<N>& /*tag*/) { return c; }
};

template <int N>
struct LaneCoefficients<N, false> {
  using Integers = typename Lanes<N>::Integers;
  const PairRow* rows;
  Integers own;  // first row of each lane's type
  Lanes<N> c[PairRow::size];
  DSEA_INLINE LaneCoefficients(const PairTable& table, const Lanes<N>& own_tag, int molecules) : rows(table.rows - 1) {
    Integers type = own_tag.bits() & 0xffff;
    for (int lane = molecules; lane < N; ++lane) type[lane] = 1;  // nobody's: any row will do
    own = (type - 1) * table.types;
  }
  DSEA_INLINE const Lanes<N>* of(const Lanes<N>& tag) {
    // The far-away molecule is of type 0: it may use any row.
    const Integers type = tag.bits() & 0xffff;
    const Integers at = own + (type == 0 ? type + 1 : type);
    for (int half = 0; half < 2; ++half) {
      Lanes<N> four[4];
      load_four(four, [&](int lane) { return rows[at[lane]].c + 4 * half; });
      for (int k = 0; k < 4; ++k) c[4 * half + k] = four[k];
    }
    return c;
  }
};

template <int N>
struct LaneSums {
  double x[N], y[N], z[N], energy[N], virial[N];
};

// What is not the inner loop stays out of the function that has it: registers are scarce there.
template <class Law>
__attribute__((noinline)) void step_one_by_one(const StepJob& job, std::int64_t first, int n) {
  for (int l = 0; l < n; ++l) job.integrate(first + l, list_sums<Law>(job.packed, job.pairs, job.list, first + l));
}
template <bool energies, int N>
__attribute__((noinline)) void integrate_lanes(const Integrate& integrate, std::int64_t first, int n,
                                               const LaneSums<N>& sums) {
  for (int l = 0; l < n; ++l) {
    PairSums own{sums.x[l], sums.y[l], sums.z[l], 0, 0};
    if constexpr (energies) {
      own.energy = sums.energy[l];
      own.virial = sums.virial[l];
    }
    integrate(first + l, own);
  }
}

template <int N, class Law, bool one_type, bool energies>
struct StepLanes {
  static constexpr std::int64_t grain = 256 / N;
  const StepJob& job;
  std::int64_t molecules;

  DSEA_INLINE void operator()(std::int64_t group, std::int64_t /*column*/) const {
    const std::int64_t first = group * N;
    const int n = static_cast<int>(std::min<std::int64_t>(N, molecules - first));
    int longest = 0;
    for (int l = 0; l < n; ++l) longest = std::max(longest, job.list.number[first + l]);
    if (longest > job.list.stride) return step_one_by_one<Law>(job, first, n);
    LaneSums<N> sums;
    add_lanes(first, n, longest, sums);
    integrate_lanes<energies>(job.integrate, first, n, sums);
  }

  /// Lanes beyond the last molecule compute something that nobody looks at.
  DSEA_INLINE void add_lanes(std::int64_t first, int n, int longest, LaneSums<N>& sums) const {
    // Positions are taken from the slab itself: its shift is 0, and adding 0 changes no bit but the sign of a zero.
    const Position* own_position = job.integrate.position + first;
    Lanes<N> own[4];
    load_four(own, [&](int lane) { return own_position + std::min(lane, n - 1); });
    Lanes<N> fx(0.0), fy(0.0), fz(0.0), energy(0.0), virial(0.0);
    const Position* positions = job.packed.position;
    const std::int32_t* entry = job.list.entries + job.list.first_entry(first);
    const std::int32_t* const end = entry + longest * NeighbourList::group;
    LaneCoefficients<N, one_type> coefficients(job.pairs, own[3], n);
    const std::int64_t next_group = static_cast<std::int64_t>(job.list.stride) * NeighbourList::group;
    for (; entry != end; entry += NeighbourList::group) {
      __builtin_prefetch(entry + next_group);  // lists do not touch each other, so the processor does not guess
      Lanes<N> other[4];
      load_four(other, [&](int lane) { return positions + entry[lane]; });
      const Lanes<N> dx = own[0] - other[0], dy = own[1] - other[1], dz = own[2] - other[2];
      const Lanes<N> r2 = dx * dx + dy * dy + dz * dz;
      const auto* c = coefficients.of(other[3]);
      const auto near = Lanes<N>::less(r2, c[0]);
      const PairValue<Lanes<N>> value = Law::evaluate(r2, c);
      const Lanes<N> f = value.force_over_r.where(near);
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

template <int N, class Law, bool one_type, bool energies>
void run_lanes(Isa isa, int threads, const StepLanes<N, Law, one_type, energies>& f) {
  parallel_ranges(threads, (f.molecules + N - 1) / N, f.grain, [&](std::int64_t begin, std::int64_t end) {
#if defined(__x86_64__)
    if constexpr (N == 8) return kernel_detail::rows_avx512(f, begin, end, 1);
#endif
    kernel_detail::rows_by_isa(isa, f, begin, end, 1);
  });
}

template <int N, class Law, bool one_type>
void run_lanes(Isa isa, int threads, std::int64_t molecules, const StepJob& job) {
  if (job.integrate.samples != nullptr)
    run_lanes(isa, threads, StepLanes<N, Law, one_type, true>{job, molecules});
  else
    run_lanes(isa, threads, StepLanes<N, Law, one_type, false>{job, molecules});
}

template <class Law, bool one_type>
void run_lanes(Isa isa, int threads, std::int64_t molecules, const StepJob& job) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return run_lanes<8, Law, one_type>(isa, threads, molecules, job);
#endif
  run_lanes<4, Law, one_type>(isa, threads, molecules, job);
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
