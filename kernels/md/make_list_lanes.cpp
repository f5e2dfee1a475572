// Neighbour lists on the host, eight candidates at a time, and filled up for step_lanes().
//
// Whether a candidate is near is decided in single precision, with a reach that is larger by more than what that may be
// wrong by: a list may hold more than it must.
#include <algorithm>
#include <array>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "dsea/device/for_each_row.hpp"
#include "kernels/md/lanes_simd.hpp"
#include "kernels/md/step.hpp"

namespace dsea::md {

namespace {

/// Everybody around a cell, in the order of lists: the candidates of all its molecules, one after the other.
class Candidates {
 public:
  static constexpr int room = 4096;

  explicit Candidates(const ListMaker& make) : make_(make) {}

  /// For molecule i; cheap if the call before was for the one in front of it.
  void look_at(std::int64_t i) {
    const std::int32_t* offsets = make_.packed.cells[1];
    if (cell_ >= 0 && offsets[cell_] <= i && i < offsets[cell_ + 1]) return;
    cell_ = make_.packed.cell_of(i);
    const int y = this->y(), z = this->z();
    base_ = make_.packed.own_base(y);
    number_ = 0;
    for (int number = 0; number < Packed::ranges; ++number) collect(make_.packed.around(y, z, number));
    for (int k = number_; k < number_ + 8 && number_ <= room; ++k) {  // nobody, so that eight can be looked at
      x_[k] = y_[k] = z_[k] = 1e15F;
      place_[k] = 0;
    }
  }

  int y() const { return cell_ / make_.packed.shape.nz; }
  int z() const { return cell_ % make_.packed.shape.nz; }
  std::int32_t place_of(std::int64_t i) const { return base_ + static_cast<std::int32_t>(i); }
  /// More than `room`: they are not stored.
  int number() const { return number_; }
  const float* xs() const { return x_; }
  const float* ys() const { return y_; }
  const float* zs() const { return z_; }
  const std::int32_t* places() const { return place_; }

 private:
  void collect(Range range) {
    const int n = range.end - range.begin;
    if (number_ + n <= room) {
      for (int k = 0; k < n; ++k) {
        x_[number_ + k] = make_.memory.x[range.begin + k];
        y_[number_ + k] = make_.memory.y[range.begin + k];
        z_[number_ + k] = make_.memory.z[range.begin + k];
        place_[number_ + k] = range.begin + k;
      }
    }
    number_ = number_ > room ? number_ : number_ + n;
  }

  const ListMaker& make_;
  int cell_ = -1;
  std::int32_t base_ = 0;
  int number_ = 0;
  alignas(32) float x_[room + 8];
  alignas(32) float y_[room + 8];
  alignas(32) float z_[room + 8];
  alignas(32) std::int32_t place_[room + 8];
};

/// Finds the neighbours of a molecule and stores what fits; returns their number.
using FindNeighbours = int (*)(const ListMaker& make, const Candidates& candidates, std::int64_t molecule);

int find_plain(const ListMaker& make, const Candidates& candidates, std::int64_t i) {
  return make.find(i, candidates.y(), candidates.z());
}

#if defined(__x86_64__)
/// For every mask of eight bits the places of its bits.
constexpr auto places_of_bits = [] {
  std::array<std::array<std::uint8_t, 8>, 256> table{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    std::size_t n = 0;
    for (std::uint8_t bit = 0; bit < 8; ++bit) {
      if ((mask >> bit) & 1U) table[mask][n++] = bit;
    }
  }
  return table;
}();

__attribute__((target("avx2"))) int find_avx2(const ListMaker& make, const Candidates& candidates, std::int64_t i) {
  const int number = candidates.number();
  if (number > Candidates::room) return find_plain(make, candidates, i);
  std::int32_t near[Candidates::room + 8];
  const std::int32_t self = candidates.place_of(i);
  const __m256 own_x = _mm256_set1_ps(make.memory.x[self]);
  const __m256 own_y = _mm256_set1_ps(make.memory.y[self]);
  const __m256 own_z = _mm256_set1_ps(make.memory.z[self]);
  const __m256 reach2 = _mm256_set1_ps(make.memory.reach2);
  int n = 0;
  for (int k = 0; k < number; k += 8) {
    const __m256 dx = _mm256_sub_ps(own_x, _mm256_load_ps(candidates.xs() + k));
    const __m256 dy = _mm256_sub_ps(own_y, _mm256_load_ps(candidates.ys() + k));
    const __m256 dz = _mm256_sub_ps(own_z, _mm256_load_ps(candidates.zs() + k));
    const __m256 r2 = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
    const auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(r2, reach2, _CMP_LT_OQ)));
    const __m128i bits = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(places_of_bits[mask].data()));
    const __m256i places = _mm256_load_si256(reinterpret_cast<const __m256i*>(candidates.places() + k));
    const __m256i kept = _mm256_permutevar8x32_epi32(places, _mm256_cvtepu8_epi32(bits));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(near + n), kept);
    n += __builtin_popcount(mask);
  }
  // The molecule itself is one of them.
  std::int32_t* const entries = make.list.entries + make.list.first_entry(i);
  const int stride = make.list.stride;
  int found = 0;
  for (int k = 0; k < n; ++k) {
    if (found < stride) entries[found * NeighbourList::group] = near[k];
    found += near[k] != self ? 1 : 0;
  }
  return found;
}
#endif

FindNeighbours find_by_isa(Isa isa) {
#if defined(__x86_64__)
  if (isa != Isa::baseline) return find_avx2;
#endif
  static_cast<void>(isa);
  return find_plain;
}

/// Lists of eight molecules, filled up to the longest of each half.
void make_group(const ListMaker& make, FindNeighbours find, Candidates& candidates, std::int64_t group,
                std::int64_t molecules) {
  constexpr int size = NeighbourList::group;
  const std::int64_t first = group * size;
  const int n = static_cast<int>(std::min<std::int64_t>(size, molecules - first));
  const int stride = make.list.stride;
  std::int32_t* const entries = make.list.entries + group * stride * size;
  const std::int32_t nobody = make.packed.far_away();
  int number[size] = {};
  for (int l = 0; l < n; ++l) {
    candidates.look_at(first + l);
    number[l] = make.list.number[first + l] = find(make, candidates, first + l);
  }
  for (int half = 0; half < size; half += Lanes::width) {
    int longest = 0;
    for (int l = half; l < half + Lanes::width; ++l) longest = std::max(longest, std::min(number[l], stride));
    for (int l = half; l < half + Lanes::width; ++l) {
      for (int k = number[l]; k < longest; ++k) entries[k * size + l] = nobody;
    }
  }
}

/// Copies packed positions to single precision.
struct ToFloats {
  const Position* from;
  float *x, *y, *z;
  DSEA_FN void operator()(std::int64_t, std::int64_t i) const {
    x[i] = static_cast<float>(from[i].x);
    y[i] = static_cast<float>(from[i].y);
    z[i] = static_cast<float>(from[i].z);
  }
};

}  // namespace

void make_list_lanes(Stream& stream, Count molecules, const ListMaker& make) {
  const Device& device = stream.device();
  stream.host_run([make, molecules, threads = device.threads(), isa = device.isa()] {
    const std::int64_t n = molecules.value();
    if (n == 0) return;
    make.note_moved();
    const std::int64_t places = make.packed.far_away() + 1;
    parallel_ranges(threads, places, 4096, [&](std::int64_t begin, std::int64_t end) {
      const MakeListMemory& to = make.memory;
      const ToFloats f{make.packed.position + begin, to.x + begin, to.y + begin, to.z + begin};
      kernel_detail::rows_by_isa(isa, f, 0, 1, end - begin);
    });
    const std::int64_t groups = (n + NeighbourList::group - 1) / NeighbourList::group;
    parallel_ranges(threads, groups, 16, [&](std::int64_t begin, std::int64_t end) {
      const FindNeighbours find = find_by_isa(isa);
      Candidates candidates(make);
      for (std::int64_t group = begin; group < end; ++group) make_group(make, find, candidates, group, n);
    });
  });
}

}  // namespace dsea::md
