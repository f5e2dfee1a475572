// What a slab consists of: named, typed arrays with a capacity.
//
//   dsea::SliceLayout layout;
//   auto T = layout.grid<double>("T", ny * nz);               // a fixed number of elements in every slab
//   auto position = layout.list<Position>("position", 5000);  // a live count of at most 5000 elements
//   auto list = layout.side_list<int>("neighbours", 300000);  // stays on the process that made it
//
// All slabs of a program have the same layout. Its hash is written into every slot header, file and message, so that
// two different layouts never meet unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dsea/base/hash.hpp"

namespace dsea {

/// Most fields a layout can have: the headers of slices have a fixed size.
inline constexpr int max_fields = 32;

/// Slabs in one slice: one on an open stream axis, two on a folded (periodic) one.
inline constexpr int max_lanes = 2;

/// A field of a layout, by which views of a slab are indexed: `slab[T]`. A plain number; copy it freely.
template <class T>
struct Field {
  using value_type = T;
  int index = -1;
};

class SliceLayout {
 public:
  struct Entry {
    std::string name;
    std::size_t element_bytes = 0;
    std::int64_t capacity = 0;  ///< elements a slab has room for
    bool fixed = false;         ///< the live count is always the capacity
    bool travels = true;        ///< false: a side field, made anew by the first worker of every process
    std::size_t bytes() const { return element_bytes * static_cast<std::size_t>(capacity); }
    /// Bytes of one slab's buffer, a multiple of 64 so that both lanes are aligned.
    std::size_t padded_bytes() const { return (bytes() + 63) / 64 * 64; }
  };

  /// A field whose slabs all have exactly `elements` elements.
  template <class T>
  Field<T> grid(std::string name, std::int64_t elements) {
    return add<T>(std::move(name), elements, true, true);
  }

  /// A field with a live count, at most `capacity`. Only the live prefix travels and is stored.
  template <class T>
  Field<T> list(std::string name, std::int64_t capacity) {
    return add<T>(std::move(name), capacity, false, true);
  }

  /// A side field: data that a process can make again from the state, such as a neighbour list. The first worker of a
  /// process writes it (Stage::makes_side()), the later workers of that process read it, and it is gone after that.
  template <class T>
  Field<T> side_list(std::string name, std::int64_t capacity) {
    return add<T>(std::move(name), capacity, false, false);
  }

  /// A side field of a fixed number of elements.
  template <class T>
  Field<T> side_grid(std::string name, std::int64_t elements) {
    return add<T>(std::move(name), elements, true, false);
  }

  int size() const { return static_cast<int>(entries_.size()); }
  const Entry& operator[](int field) const { return entries_[static_cast<std::size_t>(field)]; }
  const std::vector<Entry>& entries() const { return entries_; }

  /// Identifies names, types (by size), order, capacities and kinds of all fields.
  std::uint64_t hash() const;

  /// Bytes of all fields of one slab, padded: what a slot needs for each lane.
  std::size_t bytes_per_slab() const;

  /// What a user of the program can do when a slab has more elements than there is room for, to end that error:
  /// "raise system.spare".
  void on_overflow(std::string advice) { overflow_advice_ = std::move(advice); }
  const std::string& overflow_advice() const { return overflow_advice_; }

 private:
  template <class T>
  Field<T> add(std::string name, std::int64_t capacity, bool fixed, bool travels) {
    static_assert(std::is_trivially_copyable_v<T>, "a field's elements are copied as bytes");
    return Field<T>{add_entry(Entry{std::move(name), sizeof(T), capacity, fixed, travels})};
  }
  int add_entry(Entry entry);  // throws UsageError: no or double name, capacity < 1, too many bytes or fields

  std::vector<Entry> entries_;
  std::string overflow_advice_ = "raise the capacity in the configuration, or use more slabs";
};

}  // namespace dsea
