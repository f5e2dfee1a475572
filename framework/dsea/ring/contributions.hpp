// The regions that workers of one position write for slabs until their last contribution is in.
#pragma once

#include <cstdint>
#include <vector>

#include "dsea/device/buffer.hpp"
#include "dsea/device/stream.hpp"
#include "dsea/ring/program.hpp"
#include "dsea/slice/view.hpp"

namespace dsea {

/// For every slice being filled by one worker: a region a field, source offset and lane. The source offset d is where
/// the source lies as seen from the target: region d of slab j is written by the worker at slab j+d. Regions are reused
/// in the order of slices; all work on them is put on the worker's own stream, so that order protects them.
class Contributions {
 public:
  /// `kinds`: those this position ever runs with out > 0; none: no regions. `bundles`: slices that may be in filling.
  Contributions(const Device& device, const SliceLayout& layout, const std::vector<const Kind*>& kinds, int lanes,
                int bundles);

  /// Empties the regions of the slice that comes as number `sequence` (counted on over all super-cycles).
  void clear(Stream& stream, std::int64_t sequence);

  /// Fields of region d; null where the position never contributes.
  const RawField* fields(std::int64_t sequence, int d, int lane) const;

  /// True live counts of a slice's regions are checked here after the stage: throws RunError if one overflowed.
  /// `host_counts` as filled by copy_counts().
  std::size_t counts() const { return counts_per_bundle_; }
  /// Copies the counts of a bundle to pinned memory, in stream order.
  void copy_counts(Stream& stream, std::int64_t sequence, std::int64_t* host_counts) const;
  void check_counts(const std::int64_t* host_counts, int slice, std::int64_t step) const;

 private:
  struct Region {
    int field = 0;
    int d = 0;
    std::int64_t capacity = 0;
    std::size_t padded_bytes = 0;
  };
  static std::vector<Region> regions_of(const SliceLayout& layout, const std::vector<const Kind*>& kinds);
  std::size_t row(std::int64_t sequence, int d, int lane) const;

  SliceLayout layout_;
  int lanes_;
  int bundles_;
  int reach_ = 0;  // largest out
  std::vector<Region> regions_;
  std::size_t counts_per_bundle_ = 0;
  Buffer data_;
  Buffer counts_;
  std::vector<RawField> raw_;  // [bundle][d + reach][lane][field]
};

}  // namespace dsea
