// Transport between ranks that are threads of one process.
#pragma once

#include <memory>
#include <vector>

#include "dsea/comm/transport.hpp"

namespace dsea {

/// One transport for each of `ranks` ranks, to be given to the threads that play them. They may be destroyed in any
/// order and by any thread; a rank that waits for one that is gone gets a RunError.
///
/// The receiver copies straight from the sender's segments, with memcpy between host memory and by the function given
/// to set_copy() where device memory takes part (refused without one). A transfer of at most 4 KiB of host memory is
/// buffered, a few of them at a time, so that its sender need not wait; others are complete when the receiver has them.
/// Where the sizes differ both sides get a RunError.
///
/// fail() ends a copy under way, then wakes everybody: every wait() of an incomplete transfer returns false at once, in
/// every rank and for good. Once peer_failed() is true, or fail() has returned, no transfer touches memory any more.
///
/// Throws UsageError if `ranks` is less than 1.
std::vector<std::unique_ptr<Transport>> make_local_transports(int ranks);

}  // namespace dsea
