#include "dsea/slice/digest.hpp"

#include <algorithm>
#include <cstdio>

namespace dsea {

std::uint64_t slab_digest(const SliceLayout& layout, int slab, const RawField* fields) {
  std::uint64_t sum = 0;
  for (int f = 0; f < layout.size(); ++f) {
    const SliceLayout::Entry& entry = layout[f];
    if (!entry.travels || fields[f].data == nullptr) continue;
    const auto* bytes = static_cast<const unsigned char*>(fields[f].data);
    const std::uint64_t place = hash_combine(hash_text(entry.name), static_cast<std::uint64_t>(slab));
    const std::int64_t count = std::min(*fields[f].count, entry.capacity);
    sum += hash_combine(place, static_cast<std::uint64_t>(*fields[f].count));
    for (std::int64_t i = 0; i < count; ++i) {
      sum += hash_bytes(bytes + static_cast<std::size_t>(i) * entry.element_bytes, entry.element_bytes,
                        hash_combine(place, static_cast<std::uint64_t>(i)));
    }
  }
  return sum;
}

std::string digest_text(std::uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

}  // namespace dsea
