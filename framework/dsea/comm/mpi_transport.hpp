// Transport between processes by MPI. Includes no MPI header.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "dsea/comm/heartbeat.hpp"
#include "dsea/comm/mpi_device_memory.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/transport.hpp"

namespace dsea {

struct MpiOptions {
  /// Largest message, below 1 GiB. Only a message that has gone as a whole shows that something moves: the eight that
  /// are under way at a time must go within the link time-out. And ports sleep between looks, the longer the less
  /// moves: shared memory without a single copy carried some GB/s in messages of 4 MiB, and 0.03 GB/s in one of 64 MiB.
  std::size_t chunk_bytes = std::size_t{4} << 20;
  /// How long to wait for the other ranks when the transport is made.
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(120);
  /// The session's heartbeat, if this is its first transport. Its start_timeout is not used.
  HeartbeatOptions heartbeat{};
  /// This rank's; with a GPU, and an MPI library that is proven to move its memory, ring ports take device memory.
  std::optional<Device> device = {};
  MpiDeviceMemory device_memory = MpiDeviceMemory::ask;
};

/// Collective over all processes of the session, which must outlive the transport. Several may exist, made in the same
/// order by all ranks; each takes five communicators, which MPI gets back only when it is finalised. Each thread of the
/// ring has a communicator of its own. No call blocks inside MPI: ports poll, and sleep in between.
///
/// A transfer is complete for its sender when the receiver has begun to receive it, or before that when it is small (up
/// to 3 KiB), but at most a few transfers ahead. Device memory goes straight, by messages of its own, if all ranks' MPI
/// is tried at the start and can; then both ends must change between host and device memory at the same byte. Where the
/// sizes differ the receiver gets a RunError. MPI notices no rank that dies or is stopped and no network that is cut:
/// the session's heartbeat does. fail() tells the other ranks and then calls MPI_Abort, which ends the job.
///
/// Throws UsageError for options out of range and for a session of a library without MPI, RunError if the other ranks
/// do not come.
std::unique_ptr<Transport> make_mpi_transport(MpiSession& session, const MpiOptions& options = {});

}  // namespace dsea
