// Transport::gather() for every transport that has ports.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dsea/comm/transport.hpp"

namespace dsea {

/// Each rank sends its bytes to rank 0. Used by one thread. Owns the memory of its transfers, so it must outlive the
/// ports it is used with. Where gather() throws, a transfer may be left under way, and the next call throws.
class PortGather {
 public:
  /// On rank 0: `from` has one port for each of the ranks 1, 2, ... Throws RunError if not all came in time, or if
  /// `peer_failed` says so, which is looked at a few times a second.
  std::vector<std::vector<std::byte>> collect(std::span<ReceivePort* const> from, std::span<const std::byte> mine,
                                              std::chrono::nanoseconds timeout,
                                              const std::function<bool()>& peer_failed);

  /// On the other ranks.
  void contribute(SendPort& to_first, std::span<const std::byte> mine, std::chrono::nanoseconds timeout,
                  const std::function<bool()>& peer_failed);

 private:
  std::vector<std::uint64_t> sizes_;
  std::vector<std::vector<std::byte>> bytes_;
};

/// The same along the ring: rank 1 sends its bytes to rank 2, which adds its own, and so on to rank 0. Needs no
/// connections but those of the ring, which must be idle. By rank on rank 0, elsewhere empty; throws as collect() does.
class RingGather {
 public:
  std::vector<std::vector<std::byte>> gather(Transport& transport, std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout);

  /// A word from rank 0 to all others, from one to the next. Throws as gather() does.
  void release(Transport& transport, std::chrono::nanoseconds timeout);

 private:
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
  std::vector<std::byte> in_, out_;  // each rank's bytes behind their number
};

}  // namespace dsea
