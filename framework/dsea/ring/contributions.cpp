#include "dsea/ring/contributions.hpp"

#include <algorithm>

#include "dsea/base/check.hpp"
#include "dsea/base/error.hpp"

namespace dsea {

std::vector<Contributions::Region> Contributions::regions_of(const SliceLayout& layout,
                                                             const std::vector<const Kind*>& kinds) {
  std::vector<Region> regions;
  for (const Kind* kind : kinds) {
    for (const Kind::Region& c : kind->contributions) {
      for (int d = -kind->out; d <= kind->out; ++d) {
        const std::int64_t full = layout[c.field].capacity;
        const std::int64_t capacity = d == 0 || c.away == 0 ? full : std::min(c.away, full);
        auto same = std::find_if(regions.begin(), regions.end(),
                                 [&](const Region& r) { return r.field == c.field && r.d == d; });
        if (same == regions.end()) same = regions.insert(regions.end(), Region{c.field, d, 0, 0});
        same->capacity = std::max(same->capacity, capacity);
        const std::size_t bytes = layout[c.field].element_bytes * static_cast<std::size_t>(same->capacity);
        same->padded_bytes = (bytes + 63) / 64 * 64;
      }
    }
  }
  return regions;
}

Contributions::Contributions(const Device& device, const SliceLayout& layout, const std::vector<const Kind*>& kinds,
                             int lanes, int bundles)
    : layout_(layout), lanes_(lanes), bundles_(bundles), regions_(regions_of(layout, kinds)) {
  for (const Region& r : regions_) reach_ = std::max(reach_, r.d);
  counts_per_bundle_ = regions_.size() * static_cast<std::size_t>(lanes);
  if (regions_.empty()) return;

  std::size_t bundle_bytes = 0;
  for (const Region& r : regions_) bundle_bytes += r.padded_bytes * static_cast<std::size_t>(lanes);
  data_ = Buffer(device, bundle_bytes * static_cast<std::size_t>(bundles), Memory::device);
  counts_ =
      Buffer(device, counts_per_bundle_ * static_cast<std::size_t>(bundles) * sizeof(std::int64_t), Memory::device);
  const auto rows = static_cast<std::size_t>(bundles) * static_cast<std::size_t>((2 * reach_ + 1) * lanes);
  raw_.resize(rows * static_cast<std::size_t>(layout.size()));

  auto* data = data_.as<std::byte>();
  auto* count = counts_.as<std::int64_t>();
  for (int b = 0; b < bundles; ++b) {
    for (const Region& r : regions_) {
      for (int lane = 0; lane < lanes; ++lane) {
        raw_[row(b, r.d, lane) + static_cast<std::size_t>(r.field)] = {data, count, r.capacity};
        data += r.padded_bytes;
        ++count;
      }
    }
  }
}

std::size_t Contributions::row(std::int64_t sequence, int d, int lane) const {
  const auto bundle = static_cast<std::size_t>(sequence % bundles_);
  const std::size_t index = (bundle * static_cast<std::size_t>(2 * reach_ + 1) + static_cast<std::size_t>(d + reach_)) *
                                static_cast<std::size_t>(lanes_) +
                            static_cast<std::size_t>(lane);
  return index * static_cast<std::size_t>(layout_.size());
}

void Contributions::clear(Stream& stream, std::int64_t sequence) {
  if (regions_.empty()) return;
  const std::size_t offset = static_cast<std::size_t>(sequence % bundles_) * counts_per_bundle_;
  fill_zero(stream, counts_.as<std::int64_t>() + offset, counts_per_bundle_ * sizeof(std::int64_t));
}

const RawField* Contributions::fields(std::int64_t sequence, int d, int lane) const {
  if (regions_.empty() || d < -reach_ || d > reach_) return nullptr;
  return raw_.data() + row(sequence, d, lane);
}

void Contributions::copy_counts(Stream& stream, std::int64_t sequence, std::int64_t* host_counts) const {
  if (regions_.empty()) return;
  const std::size_t offset = static_cast<std::size_t>(sequence % bundles_) * counts_per_bundle_;
  copy(stream, host_counts, counts_.as<std::int64_t>() + offset, counts_per_bundle_ * sizeof(std::int64_t));
}

void Contributions::check_counts(const std::int64_t* host_counts, int slice, std::int64_t step) const {
  for (std::size_t i = 0; i < counts_per_bundle_; ++i) {
    const Region& r = regions_[i / static_cast<std::size_t>(lanes_)];
    if (host_counts[i] <= r.capacity && host_counts[i] >= 0) continue;
    throw RunError(cat("slice ", slice, ", step ", step, ": the contribution to field '", layout_[r.field].name,
                       "' from the slab at offset ", r.d, " needs room for ", host_counts[i], " elements, but has ",
                       r.capacity, ": ", layout_.overflow_advice()));
  }
}

}  // namespace dsea
