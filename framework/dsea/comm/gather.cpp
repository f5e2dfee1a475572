#include "dsea/comm/gather.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/deadline.hpp"

namespace dsea {
namespace {

/// Transfers of one rank, with its neighbours. Each returns false at the deadline.
class Passing {
 public:
  Passing(Transport& transport, std::chrono::nanoseconds timeout)
      : transport_(transport), deadline_(deadline_after(timeout)) {}

  bool receive(void* data, std::size_t bytes) { return pass(transport_.from_previous(), data, bytes); }
  bool send(void* data, std::size_t bytes) { return pass(transport_.to_next(), data, bytes); }

 private:
  template <class Port>
  bool pass(Port& port, void* data, std::size_t bytes) {
    const Segment segment{data, bytes, false};
    port.start({&segment, 1});
    while (!port.wait(std::min<std::chrono::nanoseconds>(time_left(deadline_), std::chrono::milliseconds(200)))) {
      if (transport_.peer_failed()) {
        const std::string why = transport_.failure();
        throw RunError(why.empty() ? "gather: given up because another rank failed" : why);
      }
      transport_.check_to_next();  // also while this rank receives: what it sent before may not have arrived
      if (Clock::now() >= deadline_) return false;
    }
    return true;
  }

  Transport& transport_;
  const Clock::time_point deadline_;
};

}  // namespace

std::vector<std::vector<std::byte>> RingGather::gather(Transport& transport, std::span<const std::byte> mine,
                                                       std::chrono::nanoseconds timeout) {
  const int rank = transport.rank();
  const int ranks = transport.size();
  Passing passing(transport, timeout);
  const auto demand = [](bool done, int other) {
    if (!done) throw RunError(cat("gather: rank ", other, " did not answer in time; it may have ended or hang"));
  };
  if (rank != 1 && ranks > 1) {
    const int previous = (rank + ranks - 1) % ranks;
    demand(passing.receive(&bytes_in_, sizeof bytes_in_), previous);
    in_.resize(bytes_in_);
    demand(passing.receive(in_.data(), in_.size()), previous);
  }
  const std::uint64_t length = mine.size();
  const auto number = std::as_bytes(std::span(&length, 1));
  if (rank != 0) {
    out_ = std::move(in_);
    out_.insert(out_.end(), number.begin(), number.end());
    out_.insert(out_.end(), mine.begin(), mine.end());
    bytes_out_ = out_.size();
    demand(passing.send(&bytes_out_, sizeof bytes_out_), (rank + 1) % ranks);
    demand(passing.send(out_.data(), out_.size()), (rank + 1) % ranks);
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
  Passing passing(transport, timeout);
  if (transport.rank() != 0 && !passing.receive(&bytes_in_, sizeof bytes_in_)) return;
  if (transport.rank() + 1 < transport.size()) passing.send(&bytes_out_, sizeof bytes_out_);
}

}  // namespace dsea
