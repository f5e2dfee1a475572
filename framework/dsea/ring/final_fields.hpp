// Which fields of a slice are final before the slice is complete, and so may travel ahead of it.
//
// A kind that reads or carries a field hands its buffer on as it is. What that becomes in the output is known as soon
// as the kind's stage for the slice begins; the slice is complete only when the stage is done, or those of its `out`
// next neighbours. So at the end of a process such fields go ahead, and the rest follows when it is there. Both ends of
// a link know which fields these are from the layout and the schedule alone. Pure logic; thread safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dsea/ring/program.hpp"
#include "dsea/ring/schedule.hpp"

namespace dsea {

/// Fields of a layout, a bit each.
using FieldMask = std::uint32_t;
static_assert(max_fields <= 32);

constexpr FieldMask bit_of(int field) { return FieldMask{1} << field; }

/// All fields that travel.
FieldMask travelling_fields(const SliceLayout& layout);

/// Bytes of these fields in a full slab, as they travel.
std::size_t bytes_of(const SliceLayout& layout, FieldMask fields);

/// What goes ahead of the slices that a kind makes. Nothing if that were less than a quarter of a slice's bytes: it
/// takes two messages more, and shortens a process's lag by no more than that share of a stage.
FieldMask final_fields(const SliceLayout& layout, const Kind& kind);

/// What goes ahead of the slices that a sub-step makes; nothing where slices are only loaded (-1) or handed on past the
/// end, for that takes no time.
FieldMask final_fields(const Problem& problem, const Schedule& schedule, std::int64_t substep);

}  // namespace dsea
