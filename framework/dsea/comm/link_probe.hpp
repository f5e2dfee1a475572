// How fast is the link between two ranks? Measured before the ring starts, as the ring will use it.
#pragma once

#include <chrono>
#include <cstddef>

#include "dsea/comm/transport.hpp"

namespace dsea {

struct LinkProbeOptions {
  std::chrono::nanoseconds silence =
      std::chrono::seconds(22);                    ///< so long nothing may move; [ring] link_timeout and 2 s
  std::size_t first_bytes = std::size_t{1} << 20;  ///< of the first transfer; each is twice as long as the one before
  std::size_t most_bytes = std::size_t{64} << 20;  ///< the longest
  /// No longer transfer than one that takes this: long enough that what a network lets pass in a burst does not count.
  std::chrono::nanoseconds long_enough = std::chrono::milliseconds(100);
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);  ///< for everything
};

/// What the receiving side of a link has seen.
struct LinkSpeed {
  double bytes_per_second = 0;  ///< 0 if nothing was measured: there is only one rank
  std::size_t bytes = 0;        ///< of the longest transfer, from which it is taken (the faster of two of that length)
  std::size_t transfers = 0;    ///< with data
};

/// Measures the link from the previous rank to this one, and plays the sending side of the link to the next. Called by
/// all ranks, before ports are used for anything else; the caller sends while a thread of its own receives, since the
/// ring does both at once. Links decide for themselves how much they transfer: for slow ones that is about 0.1 s. Host
/// memory only.
///
/// The speed is that of the receiver: the sender of a transfer may be done while much of it is still on its way.
///
/// Throws RunError when a neighbour has failed or does not come within the time.
LinkSpeed probe_link(Transport& transport, const LinkProbeOptions& options = {});

}  // namespace dsea
