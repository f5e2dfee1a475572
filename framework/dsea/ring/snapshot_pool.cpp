#include "dsea/ring/snapshot_pool.hpp"

#include "dsea/base/check.hpp"

namespace dsea {

SnapshotPool::SnapshotPool(const Device& device, const SliceLayout& layout, int lanes, int buffers)
    : buffers_(layout.size() == 0 ? 0 : buffers) {
  if (buffers_ == 0) return;
  slots_ = std::make_unique<Slots>(device, layout, lanes, std::vector<int>{buffers_},
                                   std::vector<int>(static_cast<std::size_t>(layout.size()), buffers_));
  for (int b = buffers_ - 1; b >= 0; --b) {
    for (int f = 0; f < layout.size(); ++f) slots_->take(slots_->at(0, b), f);
    free_.push_back(b);
  }
  queue_.reserve(static_cast<std::size_t>(buffers_));
}

bool SnapshotPool::has_free() const {
  const std::scoped_lock lock(mutex_);
  return !free_.empty();
}

int SnapshotPool::take() {
  const std::scoped_lock lock(mutex_);
  DSEA_CHECK(!free_.empty(), "no buffer for a snapshot");
  const int buffer = free_.back();
  free_.pop_back();
  return buffer;
}

const RawField* SnapshotPool::fields(int buffer, int lane) {
  return slots_->at(0, buffer).raw[static_cast<std::size_t>(lane)].data();
}

void SnapshotPool::submit(const Item& item) {
  const std::scoped_lock lock(mutex_);
  queue_.push_back(item);
}

SnapshotPool::Item SnapshotPool::next() {
  const std::scoped_lock lock(mutex_);
  if (queue_.empty()) return {};
  const Item item = queue_.front();
  queue_.erase(queue_.begin());
  return item;
}

void SnapshotPool::release(int buffer) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(buffer);
}

int SnapshotPool::in_use() const {
  const std::scoped_lock lock(mutex_);
  return buffers_ - static_cast<int>(free_.size());
}

}  // namespace dsea
