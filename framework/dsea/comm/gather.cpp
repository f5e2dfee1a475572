#include "dsea/comm/gather.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/deadline.hpp"

namespace dsea {
namespace {

/// One transfer to its end; `other` is the rank at the other end.
template <class Port>
void finish(Port& port, int other, Clock::time_point deadline, const std::function<bool()>& peer_failed) {
  while (!port.wait(std::min<std::chrono::nanoseconds>(time_left(deadline), std::chrono::milliseconds(200)))) {
    if (peer_failed()) throw RunError("gather: given up because another rank failed");
    if (Clock::now() >= deadline) {
      throw RunError(cat("gather: rank ", other, " did not answer in time; it may have ended or hang"));
    }
  }
}

template <class Port>
void start(Port& port, void* data, std::size_t bytes) {
  const Segment segment{data, bytes, false};
  port.start({&segment, 1});
}

/// A whole transfer.
template <class Port>
void pass(Port& port, void* data, std::size_t bytes, int other, Clock::time_point deadline,
          const std::function<bool()>& peer_failed) {
  start(port, data, bytes);
  finish(port, other, deadline, peer_failed);
}

}  // namespace

std::vector<std::vector<std::byte>> PortGather::collect(std::span<ReceivePort* const> from,
                                                        std::span<const std::byte> mine,
                                                        std::chrono::nanoseconds timeout,
                                                        const std::function<bool()>& peer_failed) {
  const Clock::time_point deadline = deadline_after(timeout);
  sizes_.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) start(*from[i], &sizes_[i], sizeof sizes_[i]);
  bytes_.clear();
  bytes_.resize(from.size() + 1);
  bytes_[0].assign(mine.begin(), mine.end());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int rank = static_cast<int>(i) + 1;
    finish(*from[i], rank, deadline, peer_failed);
    bytes_[i + 1].resize(sizes_[i]);
    pass(*from[i], bytes_[i + 1].data(), sizes_[i], rank, deadline, peer_failed);
  }
  return std::move(bytes_);
}

void PortGather::contribute(SendPort& to_first, std::span<const std::byte> mine, std::chrono::nanoseconds timeout,
                            const std::function<bool()>& peer_failed) {
  const Clock::time_point deadline = deadline_after(timeout);
  sizes_.assign(1, mine.size());
  pass(to_first, sizes_.data(), sizeof sizes_[0], 0, deadline, peer_failed);
  bytes_.assign(1, std::vector<std::byte>(mine.begin(), mine.end()));
  pass(to_first, bytes_[0].data(), mine.size(), 0, deadline, peer_failed);
}

std::vector<std::vector<std::byte>> RingGather::gather(Transport& transport, std::span<const std::byte> mine,
                                                       std::chrono::nanoseconds timeout) {
  const int rank = transport.rank();
  const int ranks = transport.size();
  const auto failed = [&] { return transport.peer_failed(); };
  const Clock::time_point deadline = deadline_after(timeout);
  if (rank != 1 && ranks > 1) {
    const int previous = (rank + ranks - 1) % ranks;
    pass(transport.from_previous(), &bytes_in_, sizeof bytes_in_, previous, deadline, failed);
    in_.resize(bytes_in_);
    pass(transport.from_previous(), in_.data(), in_.size(), previous, deadline, failed);
  }
  const std::uint64_t length = mine.size();
  const auto number = std::as_bytes(std::span(&length, 1));
  if (rank != 0) {
    out_ = std::move(in_);
    out_.insert(out_.end(), number.begin(), number.end());
    out_.insert(out_.end(), mine.begin(), mine.end());
    bytes_out_ = out_.size();
    pass(transport.to_next(), &bytes_out_, sizeof bytes_out_, (rank + 1) % ranks, deadline, failed);
    pass(transport.to_next(), out_.data(), out_.size(), (rank + 1) % ranks, deadline, failed);
    return {};
  }
  std::vector<std::vector<std::byte>> all{{mine.begin(), mine.end()}};
  for (std::span<const std::byte> rest = in_; rest.size() >= sizeof length;) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, rest.data(), sizeof bytes);
    rest = rest.subspan(sizeof bytes);
    if (bytes > rest.size()) throw RunError("gather: what came around the ring is no list of reports");
    all.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(bytes));
    rest = rest.subspan(bytes);
  }
  return all;
}

void RingGather::release(Transport& transport, std::chrono::nanoseconds timeout) {
  const int rank = transport.rank();
  const int ranks = transport.size();
  const auto failed = [&] { return transport.peer_failed(); };
  const Clock::time_point deadline = deadline_after(timeout);
  if (rank != 0) {
    pass(transport.from_previous(), &bytes_in_, sizeof bytes_in_, rank - 1, deadline, failed);
  }
  if (rank + 1 == ranks) return;
  pass(transport.to_next(), &bytes_out_, sizeof bytes_out_, rank + 1, deadline, failed);
}

}  // namespace dsea
