// Constant tables in device memory, for what does not fit into a kernel's arguments.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "dsea/base/error.hpp"
#include "dsea/device/buffer.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {

/// A table made on the host and copied to the device once, before slices flow. Copies of a Table share the device's
/// memory. After upload() all members may be called from several threads.
template <class T>
class Table {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Table() = default;
  explicit Table(std::vector<T> values) : values_(std::make_shared<const std::vector<T>>(std::move(values))) {}

  /// Copies the values to the device and waits for it. A second call moves the table to another device.
  void upload(const Device& device) {
    if (size() == 0) return;
    const std::size_t bytes = size() * sizeof(T);
    Buffer buffer(device, bytes, Memory::device, Contents::uninitialised);
    Stream stream(device, "table");
    copy(stream, buffer.data(), values_->data(), bytes);
    stream.synchronize();
    buffer_ = std::make_shared<const Buffer>(std::move(buffer));
  }

  /// For kernels: size() values in device memory; null for an empty table. Throws RunError before upload().
  const T* view() const {
    if (size() == 0) return nullptr;
    if (!buffer_) throw RunError("a Table is used before upload(): upload it before the first slice flows");
    return buffer_->template as<const T>();
  }

  std::size_t size() const { return values_ ? values_->size() : 0; }
  const T& host(std::size_t i) const { return (*values_)[i]; }  ///< the value on the host

 private:
  std::shared_ptr<const std::vector<T>> values_;
  std::shared_ptr<const Buffer> buffer_;
};

}  // namespace dsea
