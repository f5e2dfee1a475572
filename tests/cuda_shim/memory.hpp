// Device and pinned memory: host memory between guard zones, full of NaNs at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace shim {

enum class Kind { device, pinned };

struct Allocation {
  Kind kind = Kind::device;
  int device = 0;
  std::size_t bytes = 0;
  unsigned char* base = nullptr;  ///< of its guard zones
};

/// All that is allocated. Used under the runtime's lock.
///
/// Writing into a guard zone is found by check(); under AddressSanitizer at once, reading too.
class Memory {
 public:
  /// Null when there is not enough. 256-byte aligned.
  void* allocate(Kind kind, int device, std::size_t bytes);

  /// False if no such allocation of this kind begins there.
  bool release(Kind kind, void* memory);

  /// The allocation that these bytes begin in, if any; `inside`: whether they end in it too.
  std::optional<Allocation> find(const void* memory, std::size_t bytes, bool& inside) const;

  /// Empty, or which guard zone was written into. The zone is then mended, so that it is told once.
  std::string check();

  std::size_t in_use(int device) const;

 private:
  std::map<std::uintptr_t, Allocation> allocations_;
};

}  // namespace shim
