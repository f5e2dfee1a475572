// Transport between processes whose slices travel from GPU to GPU by NCCL. Includes no NCCL, MPI or CUDA header.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/nccl_api.hpp"
#include "dsea/comm/transport.hpp"
#include "dsea/device/device.hpp"

namespace dsea {

struct NcclOptions {
  /// Device memory of each port, through which segments in host memory go; rounded up to a multiple of 64.
  std::size_t staging_bytes = std::size_t{1} << 20;
  /// How long to wait for the other ranks when the transport is made.
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(120);
};

/// Throws UsageError where transport nccl cannot be: in a build without CUDA or without MPI, on a device that is no
/// GPU, without an NCCL library. Not collective.
void check_nccl(const Device& device);

/// Collective over all processes of the session, which must outlive the transport. `device` is this rank's GPU; no two
/// ranks may share one. The ring's slices travel by NCCL, with a communicator of two ranks for each link, so that the
/// input and the output thread never share one; agreements between the two ends, transfers of up to 2 KiB of host
/// memory, loading and gathering go by MPI.
///
/// Segments in device memory go straight from GPU to GPU where both ends have them there, all at once; the others
/// through a small device buffer of the port. The two ends may cut a transfer differently. A transfer that is not of
/// that small kind is complete for its sender when the receiver has begun to receive it. Where the sizes differ both
/// ends get a RunError. What NCCL reports of a connection is a RunError that names the ranks.
///
/// Throws UsageError as check_nccl() does and if two ranks share a GPU, RunError if the other ranks do not come.
std::unique_ptr<Transport> make_nccl_transport(MpiSession& session, const Device& device,
                                               const NcclOptions& options = {});

// ---- what the transport is made of, for tests that have no MPI and no NCCL ----

/// Ports for host memory to the other end of a link, one in each direction, used by the thread of the link's port.
struct NcclControl {
  SendPort* to = nullptr;
  ReceivePort* from = nullptr;
};

struct NcclWorld {
  std::unique_ptr<Transport> base;  ///< loads, gathers, fails; knows rank and size
  std::shared_ptr<void> owner;      ///< of the control ports
  NcclControl next, previous;       ///< only with several ranks
  /// What every rank has brought, by rank, on every rank. Collective.
  std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte>)> exchange;
};

/// Collective: what a session of MPI gives.
NcclWorld make_mpi_nccl_world(MpiSession& session, std::chrono::nanoseconds timeout);

std::unique_ptr<Transport> make_nccl_transport(NcclWorld world, const Device& device, const NcclApi& api,
                                               const NcclOptions& options = {});

}  // namespace dsea
