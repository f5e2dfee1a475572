// Transport::gather() for every transport that has a ring.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsea/comm/transport.hpp"

namespace dsea {

/// Every rank's bytes come to rank 0 along the ring: rank 1 sends its bytes to rank 2, which adds its own, and so on.
/// Needs no connections but those of the ring, which must be idle. Used by one thread. Owns the memory of its
/// transfers, so it must outlive the ports it is used with. After an error a transfer may be left under way, and the
/// next call throws.
class RingGather {
 public:
  /// By rank on rank 0, elsewhere empty. Throws RunError if not all came in time, or another rank failed, or the
  /// connection to the next one is stalled, which is looked at a few times a second.
  std::vector<std::vector<std::byte>> gather(Transport& transport, std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout);

  /// After gather(): a word from rank 0 to all others, from one to the next. A rank that has it knows that all ranks'
  /// bytes have arrived. One that does not get it in time goes without; other errors as those of gather().
  void release(Transport& transport, std::chrono::nanoseconds timeout);

 private:
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
  std::vector<std::byte> in_, out_;  // each rank's bytes behind their number
};

}  // namespace dsea
