// What mpi_nccl.cpp defines, in a library built without MPI.
#ifndef DSEA_HAVE_MPI

#include "dsea/base/error.hpp"
#include "dsea/comm/nccl_transport.hpp"

namespace dsea {

void check_nccl(const Device&) {
  throw UsageError(
      "transport nccl is not in this build, which has no MPI to start and connect its processes: install an MPI "
      "library "
      "and configure with -DDSEA_MPI=ON, or use transport local");
}

NcclWorld make_mpi_nccl_world(MpiSession&, std::chrono::nanoseconds) {
  throw UsageError("transport nccl is not in this build, which has no MPI");
}

std::unique_ptr<Transport> make_nccl_transport(MpiSession&, const Device& device, const NcclOptions&) {
  check_nccl(device);
  return nullptr;
}

}  // namespace dsea

#endif
