#include "dsea/device/buffer.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/device/cuda_api.hpp"
#include "dsea/device/host_loop.hpp"

namespace dsea {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t huge_from = 4 * huge_page;  // below, rounding up to whole pages would waste too much

/// Null when there is not enough memory.
void* allocate_host(std::size_t bytes) {
  const bool huge = bytes >= huge_from;
  void* memory = nullptr;
  if (posix_memalign(&memory, huge ? huge_page : alignment, bytes) != 0) return nullptr;
  if (huge) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: not every system has them
  return memory;
}

/// By all threads, so that on machines with several memories each part lies near a thread that uses it.
void zero_host(void* memory, std::size_t bytes, int threads) {
  parallel_ranges(threads, static_cast<std::int64_t>(bytes), std::int64_t{4} << 20,
                  [memory](std::int64_t begin, std::int64_t end) {
                    std::memset(static_cast<unsigned char*>(memory) + begin, 0, static_cast<std::size_t>(end - begin));
                  });
}

[[noreturn]] void not_enough(const Device& device, std::size_t bytes, Memory memory) {
  const char* kind = !device.is_cuda() ? "host" : memory == Memory::pinned ? "pinned host" : "device";
  throw RunError(cat("cannot allocate ", bytes, " bytes (", bytes_text(static_cast<double>(bytes)), ") of ", kind,
                     " memory on ", device.name(), ": use fewer slots, smaller slices or more processes"));
}

}  // namespace

Buffer::Buffer(const Device& device, std::size_t bytes, Memory memory, Contents contents)
    : device_(device), size_(bytes), memory_(memory) {
  if (bytes == 0) return;
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) - huge_page) {
    not_enough(device, bytes, memory);
  }
  const std::size_t allocated = (bytes + alignment - 1) / alignment * alignment;
  if (!device.is_cuda()) {
    data_ = allocate_host(allocated);
    if (data_ == nullptr) not_enough(device, bytes, memory);
    if (contents == Contents::zeroed) zero_host(data_, allocated, device.threads());
    return;
  }
  device.make_current();
  const bool pinned = memory == Memory::pinned;
  data_ = cuda::allocate(allocated, pinned);
  if (data_ == nullptr) not_enough(device, bytes, memory);
  if (contents == Contents::uninitialised) return;
  try {
    if (pinned) {
      zero_host(data_, allocated, device.threads());
    } else {
      cuda::zero_now(data_, allocated);
    }
  } catch (...) {
    release();
    throw;
  }
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    device_ = std::exchange(other.device_, std::nullopt);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    memory_ = other.memory_;
  }
  return *this;
}

void Buffer::release() noexcept {
  if (data_ != nullptr) {
    if (device_->is_cuda()) {
      cuda::release(data_, memory_ == Memory::pinned);
    } else {
      std::free(data_);
    }
  }
  data_ = nullptr;
  size_ = 0;
  device_.reset();
}

}  // namespace dsea
