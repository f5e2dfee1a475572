// Memory of a device, and host memory that a device can copy from.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "dsea/device/device.hpp"

namespace dsea {

enum class Memory {
  device,  ///< the GPU's memory; on the host back end plain memory
  pinned,  ///< page-locked host memory that a GPU copies from and to asynchronously; on the host back end plain memory
};

enum class Contents { zeroed, uninitialised };

/// Owns a block of memory, 64-byte aligned. Meant for start-up: making and destroying one may wait for the device.
/// Use by several threads needs the usual care; the object itself is used by one at a time.
class Buffer {
 public:
  Buffer() = default;

  /// Throws RunError, which names the number of bytes, if there is not enough memory. 0 bytes are allowed: data() is
  /// then null.
  Buffer(const Device& device, std::size_t bytes, Memory memory, Contents contents = Contents::zeroed);

  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  void* data() const { return data_; }
  std::size_t size() const { return size_; }  ///< bytes, as asked for
  Memory memory() const { return memory_; }
  explicit operator bool() const { return data_ != nullptr; }

  template <class T>
  T* as() const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64);
    return static_cast<T*>(data_);
  }

 private:
  void release() noexcept;

  std::optional<Device> device_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  Memory memory_ = Memory::device;
};

}  // namespace dsea
