// The buffers of all slots of one process, field by field, allocated once at start.
#pragma once

#include <cstdint>
#include <vector>

#include "dsea/device/buffer.hpp"
#include "dsea/slice/view.hpp"

namespace dsea {

/// A pool a field. A buffer holds the field for all lanes of a slice, and their live counts. It is taken when a slice
/// is received or processed, shared by the slots that carry it on, and free again when the last of them lets go. The
/// buffer freed last is taken first, so that data stay in the caches. Not thread safe: the owner locks.
class FieldPools {
 public:
  /// `buffers`: how many of every field; as many as the process has slots are always enough.
  FieldPools(const Device& device, const SliceLayout& layout, int lanes, const std::vector<int>& buffers);

  /// Takes a buffer of the field; its contents are undefined, its owner count is 1.
  int take(int field);
  void share(int field, int buffer);
  void release(int field, int buffer);

  /// Memory of one lane; the count is in device memory.
  RawField raw(int field, int buffer, int lane) const;

  /// The host's copy of the counts of all lanes of a buffer (lanes consecutive numbers); pinned memory.
  std::int64_t* host_counts(int field, int buffer) const;
  /// The same in device memory.
  std::int64_t* device_counts(int field, int buffer) const;

  /// Calls use(data, bytes) for the memory of every field that travels.
  template <class Use>
  void for_each_memory(Use use) {
    for (int f = 0; f < layout_.size(); ++f) {
      Buffer& data = pools_[static_cast<std::size_t>(f)].data;
      if (layout_[f].travels && data.size() > 0) use(data.data(), data.size());
    }
  }

  int taken(int field) const;
  const SliceLayout& layout() const { return layout_; }
  int lanes() const { return lanes_; }

 private:
  struct Pool {
    Buffer data;
    std::size_t stride = 0;  // of a lane
    std::vector<int> free;   // last in, first out
    std::vector<int> owners;
    std::size_t first_count = 0;  // of the field in the arrays of counts
  };
  std::size_t count_index(int field, int buffer) const;

  SliceLayout layout_;
  int lanes_;
  std::vector<Pool> pools_;
  Buffer device_counts_;
  Buffer host_counts_;
};

}  // namespace dsea
