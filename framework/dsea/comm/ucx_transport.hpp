// Transport between processes by UCX, over one or several network rails. Includes no UCX header.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  std::vector<std::string> rails{};
  /// Each card is used by one rank of its node only, and the others' slices are passed on by it (comm/rail_routes.hpp);
  /// otherwise every rank uses all cards.
  bool relays = false;
  /// Largest message; below 1 GiB, which every network handles. A transfer is cut into about 128 a rail, none
  /// shorter than 128 KiB.
  std::size_t chunk_bytes = std::size_t{4} << 20;
  /// How long to wait for the other ranks when the transport is made.
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(120);
  /// See MpiOptions. After the heartbeat's link_timeout without an answer over any rail the link is broken; a rail is
  /// given up after half of it if the others answer.
  HeartbeatOptions heartbeat{};
  /// Ranks with the same number are on one node; not set: those on the same host are (tests).
  std::optional<int> node{};
  /// Gets a line for the log when a rail is lost; any thread.
  std::function<void(const std::string&)> warn{};
  /// True: the rail breaks instead of sending this chunk (tests). Called in a thread of the transport.
  std::function<bool(std::size_t rail, std::uint64_t transfer, std::size_t chunk)> breaks{};
};

/// Collective over all processes of the session, which must outlive the transport; all ranks name as many rails. Slices
/// travel by UCX, between nodes over all rails at once: a transfer is cut into chunks, and each takes the rail that has
/// room. Within a node UCX takes shared memory. MPI only starts it all. Threads sleep until
/// one of their rails has an event.
///
/// A rail that breaks, or is silent for half the link's time-out while others answer, is given up for the rest of the
/// run, with a warning; the others take over what it had. A short transfer (up to 3 KiB) may be complete for its sender
/// before the receiver has begun, a few ahead; a longer one when the receiver has it. Where the sizes differ the
/// receiver gets a RunError. When no rail is left, or none answers, wait() throws a RunError that names ranks, nodes
/// and rails.
///
/// Throws UsageError for a device that is not there, for options out of range and in a library without UCX, RunError if
/// the other ranks do not come.
std::unique_ptr<Transport> make_ucx_transport(MpiSession& session, const UcxOptions& options = {});

}  // namespace dsea
