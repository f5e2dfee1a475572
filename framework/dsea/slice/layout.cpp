#include "dsea/slice/layout.hpp"

#include <limits>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {

int SliceLayout::add_entry(Entry entry) {
  if (entry.name.empty()) throw UsageError("a field of the slice layout has no name: give it one");
  for (const Entry& other : entries_) {
    if (other.name == entry.name) {
      throw UsageError(cat("the slice layout has two fields named '", entry.name, "': rename one"));
    }
  }
  if (size() == max_fields) {
    throw UsageError(cat("field '", entry.name, "' is one too many: a layout has at most ", max_fields, " fields"));
  }
  if (entry.capacity < 1) {
    throw UsageError(
        cat("field '", entry.name, "' has a capacity of ", entry.capacity, " elements: at least 1 is needed"));
  }
  const auto limit = std::numeric_limits<std::int64_t>::max() / 8;
  if (entry.capacity > limit / static_cast<std::int64_t>(entry.element_bytes)) {
    throw UsageError(cat("field '", entry.name, "' with ", entry.capacity, " elements of ", entry.element_bytes,
                         " bytes does not fit in a 64-bit size: use smaller slabs"));
  }
  entries_.push_back(std::move(entry));
  return size() - 1;
}

std::uint64_t SliceLayout::hash() const {
  std::uint64_t h = hash_text("slice layout 1");
  for (const Entry& e : entries_) {
    h = hash_text(e.name, h);
    h = hash_combine(h, e.element_bytes);
    h = hash_combine(h, static_cast<std::uint64_t>(e.capacity));
    h = hash_combine(h, (e.fixed ? 1U : 0U) + (e.travels ? 2U : 0U));
  }
  return h;
}

std::size_t SliceLayout::bytes_per_slab() const {
  std::size_t bytes = 0;
  for (const Entry& e : entries_) bytes += e.padded_bytes();
  return bytes;
}

}  // namespace dsea
