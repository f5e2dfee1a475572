#include "dsea/comm/gather.hpp"

#include <algorithm>

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
    start(*from[i], bytes_[i + 1].data(), sizes_[i]);
    finish(*from[i], rank, deadline, peer_failed);
  }
  return std::move(bytes_);
}

void PortGather::contribute(SendPort& to_first, std::span<const std::byte> mine, std::chrono::nanoseconds timeout,
                            const std::function<bool()>& peer_failed) {
  const Clock::time_point deadline = deadline_after(timeout);
  sizes_.assign(1, mine.size());
  start(to_first, sizes_.data(), sizeof sizes_[0]);
  finish(to_first, 0, deadline, peer_failed);
  bytes_.assign(1, std::vector<std::byte>(mine.begin(), mine.end()));
  start(to_first, bytes_[0].data(), mine.size());
  finish(to_first, 0, deadline, peer_failed);
}

}  // namespace dsea
