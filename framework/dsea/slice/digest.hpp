// The digest of a state: an order-free sum of the hashes of every element's full state.
//
// Sums of 64-bit hashes wrap around and commute, so slicing and order cannot change the digest, and any flipped bit
// does.
#pragma once

#include <cstdint>
#include <string>

#include "dsea/slice/layout.hpp"
#include "dsea/slice/view.hpp"

namespace dsea {

/// Digest of one slab when an element is known by its place: hash of (field, slab, index, bytes), over the live
/// elements of all fields that travel. Programs whose elements carry an id of their own define their own digest.
std::uint64_t slab_digest(const SliceLayout& layout, int slab, const RawField* fields);

/// 16 hex digits.
std::string digest_text(std::uint64_t digest);

}  // namespace dsea
