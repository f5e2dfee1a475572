#include "cuda_shim/memory.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace shim {

namespace {

constexpr std::size_t zone = 256;
constexpr unsigned char zone_byte = 0xb5;
constexpr unsigned char fresh_byte = 0xff;  // NaN, -1

#if defined(__SANITIZE_ADDRESS__)
void close(unsigned char* begin, std::size_t bytes) { ASAN_POISON_MEMORY_REGION(begin, bytes); }
void open(unsigned char* begin, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(begin, bytes); }
bool intact(const unsigned char*) { return true; }  // else the program has ended before
#else
void close(unsigned char* begin, std::size_t bytes) { std::memset(begin, zone_byte, bytes); }
void open(unsigned char*, std::size_t) {}
bool intact(const unsigned char* begin) {
  static const std::array<unsigned char, zone> whole = [] {
    std::array<unsigned char, zone> bytes{};
    bytes.fill(zone_byte);
    return bytes;
  }();
  return std::memcmp(begin, whole.data(), zone) == 0;
}
#endif

}  // namespace

void* Memory::allocate(Kind kind, int device, std::size_t bytes) {
  const std::size_t whole = zone + (bytes + zone - 1) / zone * zone + zone;
  auto* const base = static_cast<unsigned char*>(std::aligned_alloc(zone, whole));
  if (base == nullptr) return nullptr;
  unsigned char* const memory = base + zone;
  std::memset(memory, fresh_byte, bytes);
  close(base, zone);
  close(memory + bytes, zone);
  allocations_[reinterpret_cast<std::uintptr_t>(memory)] = {kind, device, bytes, base};
  return memory;
}

bool Memory::release(Kind kind, void* memory) {
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == allocations_.end() || found->second.kind != kind) return false;
  const Allocation& allocation = found->second;
  open(allocation.base, zone);
  open(static_cast<unsigned char*>(memory) + allocation.bytes, zone);
  std::memset(memory, fresh_byte, allocation.bytes);  // for whoever still reads it
  std::free(allocation.base);
  allocations_.erase(found);
  return true;
}

std::optional<Allocation> Memory::find(const void* memory, std::size_t bytes, bool& inside) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  auto found = allocations_.upper_bound(begin);
  inside = false;
  if (found == allocations_.begin()) return std::nullopt;
  --found;
  const std::size_t offset = begin - found->first;
  if (offset >= found->second.bytes) return std::nullopt;
  inside = bytes <= found->second.bytes - offset;
  return found->second;
}

std::string Memory::check() {
  for (auto& [begin, allocation] : allocations_) {
    auto* const memory = reinterpret_cast<unsigned char*>(begin);
    const bool before = !intact(allocation.base);
    if (!before && intact(memory + allocation.bytes)) continue;
    close(allocation.base, zone);
    close(memory + allocation.bytes, zone);
    return std::string("written ") + (before ? "before" : "behind") + " an allocation of " +
           std::to_string(allocation.bytes) + " bytes";
  }
  return "";
}

std::size_t Memory::in_use(int device) const {
  std::size_t sum = 0;
  for (const auto& [begin, allocation] : allocations_) {
    if (allocation.kind == Kind::device && allocation.device == device) sum += allocation.bytes;
  }
  return sum;
}

}  // namespace shim
