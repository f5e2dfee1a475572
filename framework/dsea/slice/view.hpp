// Typed views of a slab's fields: what kernels are given.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "dsea/base/error.hpp"
#include "dsea/base/macros.hpp"
#include "dsea/base/text.hpp"
#include "dsea/device/count.hpp"
#include "dsea/slice/layout.hpp"

namespace dsea {

/// One field of one slab: a pointer, a capacity and a live count, in the memory of the device. Copy it into kernels.
/// T is const where the field is input. Empty (false) where the slab does not exist.
///
/// The count lies in device memory too: kernels read and write it, the host must not (it may not be there yet). On the
/// host pass `live()` to for_each, which reads the count where the kernel runs.
template <class T>
struct View {
  using CountType = std::conditional_t<std::is_const_v<T>, const std::int64_t, std::int64_t>;

  T* data = nullptr;
  CountType* count_at = nullptr;
  std::int64_t capacity = 0;

  DSEA_FN explicit operator bool() const { return data != nullptr; }
  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) DSEA_FN operator View<U>()
      const {  // NOLINT: what was just written may be read
    return {data, count_at, capacity};
  }
  DSEA_FN T& operator[](std::int64_t i) const { return data[i]; }

  /// Live elements, at most the capacity. In kernels, and on the host inside init() and snapshots.
  DSEA_FN std::int64_t count() const {
    if (data == nullptr) return 0;
    return *count_at < capacity ? *count_at : capacity;
  }

  /// In one thread of a kernel, or in init(): how many elements there are now. A count above the capacity is noticed by
  /// the framework and ends the run with an error that names the need: write the true need, but no element beyond
  /// capacity.
  DSEA_FN void set_count(std::int64_t n) const { *count_at = n; }

  /// For for_each: as many iterations as there are live elements when the kernel runs.
  Count live() const { return data == nullptr ? Count{nullptr, 0} : Count{count_at, capacity}; }
};

/// A field of a slab without its type.
struct RawField {
  void* data = nullptr;
  std::int64_t* count = nullptr;
  std::int64_t capacity = 0;
};

/// The fields of one slab, indexed by Field: `slab[T]`. False where the slab does not exist (beyond an open end, an
/// empty lane): its views are empty. Valid during the call it was given to.
template <bool writable>
class SlabView {
 public:
  SlabView() = default;
  /// `fields`: one RawField a field of the layout; `allowed`: bit f says that field f may be touched.
  SlabView(const SliceLayout* layout, const RawField* fields, std::uint32_t allowed = ~0U)
      : layout_(layout), fields_(fields), allowed_(allowed) {}
  /// A slab whose fields come from two places.
  SlabView(const SliceLayout* layout, const RawField* fields, std::uint32_t allowed, const RawField* others,
           std::uint32_t others_allowed)
      : layout_(layout), fields_(fields), allowed_(allowed), others_(others), others_allowed_(others_allowed) {}

  explicit operator bool() const { return fields_ != nullptr; }

  /// View of one field. Throws RunError if the worker may not touch it here: the kind carries it, or it is not a
  /// contribution.
  template <class T>
  auto operator[](Field<T> field) const {
    using Element = std::conditional_t<writable, T, const T>;
    if (fields_ == nullptr) return View<Element>{};
    const RawField& raw = checked(field.index);
    return View<Element>{static_cast<Element*>(raw.data), raw.count, raw.capacity};
  }

 private:
  const RawField& checked(int index) const {
    if (index < 0 || index >= layout_->size()) {
      throw RunError(cat("field number ", index, " is not one of the layout's ", layout_->size(), " fields"));
    }
    const bool other = ((others_allowed_ >> index) & 1U) != 0;
    const RawField& raw = other ? others_[index] : fields_[index];
    if (raw.data == nullptr || (((allowed_ | others_allowed_) >> index) & 1U) == 0) {
      throw RunError(cat("field '", (*layout_)[index].name, "' may not be ", writable ? "written" : "read",
                         " here: see what the kind declares for it (Use::read, write, contribute, carry)"));
    }
    return raw;
  }

  const SliceLayout* layout_ = nullptr;
  const RawField* fields_ = nullptr;
  std::uint32_t allowed_ = ~0U;
  const RawField* others_ = nullptr;
  std::uint32_t others_allowed_ = 0;
};

using SlabIn = SlabView<false>;  ///< input: read only
using SlabOut = SlabView<true>;  ///< output

}  // namespace dsea
