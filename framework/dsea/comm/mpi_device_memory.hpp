// Whether MPI can move memory of GPUs. Includes no MPI header.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "dsea/comm/mpi_session.hpp"
#include "dsea/device/device.hpp"

namespace dsea {

/// What is believed of the MPI library before it is tried. To try one that cannot ends the process.
enum class MpiDeviceMemory {
  ask,  ///< the library itself, or the environment variable DSEA_MPI_DEVICE_MEMORY=yes|no, which overrules it
  yes,
  no
};

/// An answer, and what it rests on.
struct MpiDeviceAnswer {
  bool yes = false;
  std::string why;  ///< "Open MPI v4.1.4 was built without CUDA support"
};

/// What the library says of itself. Not collective.
MpiDeviceAnswer ask_mpi_for_device_memory(const std::string& library);

/// Collective: if all ranks believe it, sends device memory around the ring of ranks and compares what comes. Yes only
/// if that went well on all ranks; all ranks get the same answer. No without a device. Throws RunError if the other
/// ranks do not come within `timeout`.
MpiDeviceAnswer try_mpi_device_memory(const MpiSession& session, const std::optional<Device>& device,
                                      MpiDeviceMemory belief, std::chrono::nanoseconds timeout);

}  // namespace dsea
