// Transport between processes by UCX, over one or several network rails. Includes no UCX header.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dsea/comm/heartbeat.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/transport.hpp"

namespace dsea {

/// Was the library built with UCX (and MPI, which starts the processes and carries their addresses)?
bool ucx_available();

/// Throws UsageError for a network device that this node does not have, and in a library without UCX.
void check_ucx(const std::vector<std::string>& rails);

struct UcxOptions {
  /// Network devices as UCX names them ("mlx5_0:1", "eth0"), one rail each; empty: one rail over all that UCX finds.
  std::vector<std::string> rails;
  /// Largest message; below 1 GiB, which every network handles.
  std::size_t chunk_bytes = std::size_t{512} << 20;
  /// How long to wait for the other ranks when the transport is made.
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(120);
  /// See MpiOptions.
  HeartbeatOptions heartbeat{};
};

/// Collective over all processes of the session, which must outlive the transport; all ranks name as many rails. Slices
/// travel by UCX: every transfer is cut into one range of bytes for each rail, which has a UCX context, a worker and an
/// endpoint of its own in each port. Loading and gathering, which are rare, go by MPI. Waiting threads sleep until one
/// of their workers has an event.
///
/// Host memory only. A transfer may be complete for its sender before the receiver has begun, if it is small. Where the
/// sizes differ the receiver gets a RunError. A neighbour whose connection breaks is a RunError that names the rail.
///
/// Throws UsageError for a device that is not there, for options out of range and in a library without UCX, RunError if
/// the other ranks do not come.
std::unique_ptr<Transport> make_ucx_transport(MpiSession& session, const UcxOptions& options = {});

}  // namespace dsea
