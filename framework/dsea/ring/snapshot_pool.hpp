// Buffers for snapshots on their way from a worker to the io thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dsea/ring/slots.hpp"

namespace dsea {

/// One slice of a snapshot: filled by a stage, written by the io thread, free again. Thread safe.
class SnapshotPool {
 public:
  struct Item {
    int buffer = -1;
    int slice = 0;
    std::int64_t step = 0;
  };

  /// No buffers at all if the layout is empty.
  SnapshotPool(const Device& device, const SliceLayout& layout, int lanes, int buffers);

  bool has_free() const;
  int take();
  const RawField* fields(int buffer, int lane);
  /// The stage's work is done: the io thread may write it.
  void submit(const Item& item);
  /// The oldest submitted one, or buffer -1.
  Item next();
  void release(int buffer);
  /// Taken and not yet released.
  int in_use() const;

 private:
  mutable std::mutex mutex_;
  std::unique_ptr<Slots> slots_;
  std::vector<int> free_;
  std::vector<Item> queue_;  // reserved: as many as buffers
  int buffers_ = 0;
};

}  // namespace dsea
