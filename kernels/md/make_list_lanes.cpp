// Neighbour lists on the host, eight or sixteen candidates at a time, and filled up for step_lanes(): first everybody
// who may be near to the molecules of a cell is found, then those who are near to each of them.
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

/// Single precision positions and where they lie in the packed array, for `room` candidates and what may be read and
/// written behind them.
struct CandidateArrays {
  static constexpr int room = 4096;
  static constexpr int beyond = 16;
  alignas(64) float x[room + beyond];
  alignas(64) float y[room + beyond];
  alignas(64) float z[room + beyond];
  alignas(64) std::int32_t place[room + beyond];
  int number = 0;  ///< more than `room`: they are not all stored
};

/// What the molecules of a cell lie in.
struct Box {
  float low[3] = {1e30F, 1e30F, 1e30F};
  float high[3] = {-1e30F, -1e30F, -1e30F};
  void add(const MakeListMemory& from, std::int32_t place) {
    const float at[3] = {from.x[place], from.y[place], from.z[place]};
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], at[k]);
      high[k] = std::max(high[k], at[k]);
    }
  }
};

/// Appends those of a range that may be near to a molecule in the box. Rounding does not decrease, so nobody who is
/// near to a molecule by the same arithmetic is left out.
using KeepNearBox = void (*)(const MakeListMemory& from, Range range, const Box& box, CandidateArrays& to);
/// Finds the places of those near to the molecule at place `self`; returns their number. `near` has room for all
/// candidates and what is behind them.
using FindNeighbours = int (*)(const MakeListMemory& from, const CandidateArrays& candidates, std::int32_t self,
                               std::int32_t* near);

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

__attribute__((target("avx2"))) __m256i bits_to_front(unsigned mask) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(places_of_bits[mask].data())));
}

__attribute__((target("avx2"))) void keep_near_box(const MakeListMemory& from, Range range, const Box& box,
                                                   CandidateArrays& to) {
  const __m256 reach2 = _mm256_set1_ps(from.reach2);
  const __m256 zero = _mm256_setzero_ps();
  const float* const axes[3] = {from.x, from.y, from.z};
  float* const stored[3] = {to.x, to.y, to.z};
  for (std::int32_t j = range.begin; j < range.end; j += 8) {
    if (to.number > CandidateArrays::room) return;
    __m256 at[3], r2 = zero;
    for (int k = 0; k < 3; ++k) {
      at[k] = _mm256_loadu_ps(axes[k] + j);
      const __m256 below = _mm256_sub_ps(_mm256_set1_ps(box.low[k]), at[k]);
      const __m256 beyond = _mm256_sub_ps(at[k], _mm256_set1_ps(box.high[k]));
      const __m256 away = _mm256_max_ps(_mm256_max_ps(below, beyond), zero);
      r2 = _mm256_add_ps(r2, _mm256_mul_ps(away, away));
    }
    auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(r2, reach2, _CMP_LT_OQ)));
    if (range.end - j < 8) mask &= (1U << (range.end - j)) - 1;
    const __m256i front = bits_to_front(mask);
    for (int k = 0; k < 3; ++k) _mm256_storeu_ps(stored[k] + to.number, _mm256_permutevar8x32_ps(at[k], front));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.place + to.number),
                        _mm256_add_epi32(_mm256_set1_epi32(j), front));
    to.number += __builtin_popcount(mask);
  }
}

__attribute__((target("avx2"))) int find_avx2(const MakeListMemory& from, const CandidateArrays& c, std::int32_t self,
                                              std::int32_t* near) {
  const __m256 own_x = _mm256_set1_ps(from.x[self]);
  const __m256 own_y = _mm256_set1_ps(from.y[self]);
  const __m256 own_z = _mm256_set1_ps(from.z[self]);
  const __m256 reach2 = _mm256_set1_ps(from.reach2);
  const __m256i own = _mm256_set1_epi32(self);
  int n = 0;
  for (int k = 0; k < c.number; k += 8) {
    const __m256 dx = _mm256_sub_ps(own_x, _mm256_load_ps(c.x + k));
    const __m256 dy = _mm256_sub_ps(own_y, _mm256_load_ps(c.y + k));
    const __m256 dz = _mm256_sub_ps(own_z, _mm256_load_ps(c.z + k));
    const __m256 r2 = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
    const __m256i places = _mm256_load_si256(reinterpret_cast<const __m256i*>(c.place + k));
    const __m256 is_self = _mm256_castsi256_ps(_mm256_cmpeq_epi32(places, own));
    const __m256 is_near = _mm256_andnot_ps(is_self, _mm256_cmp_ps(r2, reach2, _CMP_LT_OQ));
    const auto mask = static_cast<unsigned>(_mm256_movemask_ps(is_near));
    const __m256i kept = _mm256_permutevar8x32_epi32(places, bits_to_front(mask));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(near + n), kept);
    n += __builtin_popcount(mask);
  }
  return n;
}

__attribute__((target("avx512f"))) int find_avx512(const MakeListMemory& from, const CandidateArrays& c,
                                                   std::int32_t self, std::int32_t* near) {
  const __m512 own_x = _mm512_set1_ps(from.x[self]);
  const __m512 own_y = _mm512_set1_ps(from.y[self]);
  const __m512 own_z = _mm512_set1_ps(from.z[self]);
  const __m512 reach2 = _mm512_set1_ps(from.reach2);
  const __m512i own = _mm512_set1_epi32(self);
  int n = 0;
  for (int k = 0; k < c.number; k += 16) {
    const __m512 dx = _mm512_sub_ps(own_x, _mm512_load_ps(c.x + k));
    const __m512 dy = _mm512_sub_ps(own_y, _mm512_load_ps(c.y + k));
    const __m512 dz = _mm512_sub_ps(own_z, _mm512_load_ps(c.z + k));
    const __m512 r2 = _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy)), _mm512_mul_ps(dz, dz));
    const __m512i places = _mm512_load_si512(c.place + k);
    const __mmask16 others = _mm512_cmpneq_epi32_mask(places, own);
    const __mmask16 mask = _mm512_mask_cmp_ps_mask(others, r2, reach2, _CMP_LT_OQ);
    _mm512_storeu_si512(near + n, _mm512_maskz_compress_epi32(mask, places));
    n += __builtin_popcount(mask);
  }
  return n;
}
#endif

/// How lists are made on an instruction set; without functions as on a GPU, one candidate at a time.
struct Way {
  KeepNearBox keep = nullptr;
  FindNeighbours find = nullptr;

  explicit Way(Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::baseline) return;
    keep = keep_near_box;
    find = isa == Isa::avx512 ? find_avx512 : find_avx2;
#endif
    static_cast<void>(isa);
  }
};

/// Everybody who may be a neighbour of a cell's molecules, in the order of lists.
class Candidates {
 public:
  Candidates(const ListMaker& make, Way way) : make_(make), way_(way) {}

  /// Whether candidates are found for molecule i; else its list is made one by one. Cheap if the call before was for
  /// the one in front of it.
  bool look_at(std::int64_t i) {
    const std::int32_t* offsets = make_.packed.cells[1];
    if (cell_ < 0 || i < offsets[cell_] || i >= offsets[cell_ + 1]) look_around(make_.packed.cell_of(i));
    return way_.find != nullptr && arrays_.number <= CandidateArrays::room;
  }
  int find(std::int64_t i, std::int32_t* near) const {
    return way_.find(make_.memory, arrays_, base_ + static_cast<std::int32_t>(i), near);
  }
  int find_one_by_one(std::int64_t i) const { return make_.find(i, y(), z()); }

 private:
  int y() const { return cell_ / make_.packed.shape.nz; }
  int z() const { return cell_ % make_.packed.shape.nz; }

  void look_around(int cell) {
    cell_ = cell;
    base_ = make_.packed.own_base(y());
    arrays_.number = 0;
    if (way_.keep == nullptr) return;
    Box box;
    const std::int32_t* offsets = make_.packed.cells[1];
    for (std::int32_t i = offsets[cell]; i < offsets[cell + 1]; ++i) box.add(make_.memory, base_ + i);
    for (int k = 0; k < Packed::ranges; ++k) way_.keep(make_.memory, make_.packed.around(y(), z(), k), box, arrays_);
    if (arrays_.number > CandidateArrays::room) return;
    for (int k = arrays_.number; k < arrays_.number + CandidateArrays::beyond; ++k) {  // nobody, for whole vectors
      arrays_.x[k] = arrays_.y[k] = arrays_.z[k] = 1e15F;
      arrays_.place[k] = 0;
    }
  }

  const ListMaker& make_;
  const Way way_;
  int cell_ = -1;
  std::int32_t base_ = 0;
  CandidateArrays arrays_;
};

/// Makes the lists of a group and fills them up to the longest.
class GroupMaker {
 public:
  GroupMaker(const ListMaker& make, Isa isa) : make_(make), candidates_(make, Way(isa)) {}

  void operator()(std::int64_t group, std::int64_t molecules) {
    const std::int64_t first = group * size;
    const int n = static_cast<int>(std::min<std::int64_t>(size, molecules - first));
    std::int32_t* const entries = make_.list.entries + make_.list.first_entry(first);
    std::int32_t* const number = make_.list.number + first;
    const int stride = make_.list.stride;
    const std::int32_t nobody = make_.packed.far_away();
    bool stored[size] = {};  // in the list already, and not in near_
    int length[size] = {};
    int longest = 0;
    for (int l = 0; l < n; ++l) {
      stored[l] = !candidates_.look_at(first + l);
      number[l] = stored[l] ? candidates_.find_one_by_one(first + l) : candidates_.find(first + l, near_[l]);
      length[l] = std::min(number[l], stride);
      longest = std::max(longest, length[l]);
    }
    for (int l = 0; l < size; ++l) {
      std::int32_t* const tail = stored[l] ? entries + l : near_[l];
      const int step = stored[l] ? size : 1;
      for (int k = length[l]; k < longest; ++k) tail[k * step] = nobody;
    }
    if (std::none_of(stored, stored + size, [](bool is) { return is; })) {
      for (int k = 0; k < longest; ++k) {  // whole rows: memory is written once, from its beginning to its end
        for (int l = 0; l < size; ++l) entries[k * size + l] = near_[l][k];
      }
    } else {
      for (int l = 0; l < size; ++l) {
        for (int k = 0; k < longest && !stored[l]; ++k) entries[k * size + l] = near_[l][k];
      }
    }
  }

 private:
  static constexpr int size = NeighbourList::group;
  const ListMaker& make_;
  Candidates candidates_;
  std::int32_t near_[size][CandidateArrays::room + CandidateArrays::beyond];
};

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
      GroupMaker make_group(make, isa);
      for (std::int64_t group = begin; group < end; ++group) make_group(group, n);
    });
  });
}

}  // namespace dsea::md
