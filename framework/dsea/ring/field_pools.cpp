#include "dsea/ring/field_pools.hpp"

#include "dsea/base/check.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {

FieldPools::FieldPools(const Device& device, const SliceLayout& layout, int lanes, const std::vector<int>& buffers)
    : layout_(layout), lanes_(lanes) {
  std::size_t counts = 0;
  for (int b : buffers) counts += static_cast<std::size_t>(b * lanes);
  device_counts_ = Buffer(device, counts * sizeof(std::int64_t), Memory::device);
  host_counts_ = Buffer(device, counts * sizeof(std::int64_t), Memory::pinned);
  pools_.resize(static_cast<std::size_t>(layout.size()));
  std::size_t first_count = 0;
  for (int f = 0; f < layout.size(); ++f) {
    Pool& pool = pools_[static_cast<std::size_t>(f)];
    const int size = buffers[static_cast<std::size_t>(f)];
    pool.first_count = first_count;
    first_count += static_cast<std::size_t>(size * lanes);
    pool.stride = layout[f].padded_bytes();
    pool.data = Buffer(device, pool.stride * static_cast<std::size_t>(lanes * size), Memory::device);
    pool.owners.assign(static_cast<std::size_t>(size), 0);
    pool.free.reserve(static_cast<std::size_t>(size));
    for (int b = size - 1; b >= 0; --b) pool.free.push_back(b);
    // The counts of fixed fields never change; list fields start empty.
    for (int b = 0; b < size; ++b) {
      for (int lane = 0; lane < lanes; ++lane) host_counts(f, b)[lane] = layout[f].fixed ? layout[f].capacity : 0;
    }
  }
  Stream stream(device, "pools");
  copy(stream, device_counts_.data(), host_counts_.data(), device_counts_.size());
  stream.synchronize();
}

std::size_t FieldPools::count_index(int field, int buffer) const {
  return pools_[static_cast<std::size_t>(field)].first_count + static_cast<std::size_t>(buffer * lanes_);
}

int FieldPools::take(int field) {
  Pool& pool = pools_[static_cast<std::size_t>(field)];
  DSEA_CHECK(!pool.free.empty(), "no buffer left for field '", layout_[field].name, "'");
  const int buffer = pool.free.back();
  pool.free.pop_back();
  pool.owners[static_cast<std::size_t>(buffer)] = 1;
  return buffer;
}

void FieldPools::share(int field, int buffer) {
  ++pools_[static_cast<std::size_t>(field)].owners[static_cast<std::size_t>(buffer)];
}

void FieldPools::release(int field, int buffer) {
  Pool& pool = pools_[static_cast<std::size_t>(field)];
  int& owners = pool.owners[static_cast<std::size_t>(buffer)];
  DSEA_CHECK_LE(1, owners, "buffer of field '", layout_[field].name, "' released twice");
  if (--owners == 0) pool.free.push_back(buffer);
}

RawField FieldPools::raw(int field, int buffer, int lane) const {
  const Pool& pool = pools_[static_cast<std::size_t>(field)];
  const auto place =
      static_cast<std::size_t>(buffer) * static_cast<std::size_t>(lanes_) + static_cast<std::size_t>(lane);
  return {pool.data.as<std::byte>() + pool.stride * place, device_counts(field, buffer) + lane,
          layout_[field].capacity};
}

std::int64_t* FieldPools::host_counts(int field, int buffer) const {
  return host_counts_.as<std::int64_t>() + count_index(field, buffer);
}

std::int64_t* FieldPools::device_counts(int field, int buffer) const {
  return device_counts_.as<std::int64_t>() + count_index(field, buffer);
}

int FieldPools::taken(int field) const {
  const Pool& pool = pools_[static_cast<std::size_t>(field)];
  return static_cast<int>(pool.owners.size() - pool.free.size());
}

}  // namespace dsea
