// What ucx_*.cpp define, in a library built without UCX or without MPI.
#ifndef DSEA_HAVE_UCX

#include "dsea/base/error.hpp"
#include "dsea/comm/ucx_transport.hpp"
#include "dsea/comm/ucx_trial.hpp"

namespace dsea {

bool ucx_available() { return false; }

void check_ucx(const std::vector<std::string>&) {
  throw UsageError(
      "transport ucx is not in this build: install UCX and an MPI library and configure with -DDSEA_UCX=ON, or use "
      "transport mpi");
}

std::string try_ucx(const std::vector<std::string>&) { return "UCX is not in this build"; }

std::unique_ptr<Transport> make_ucx_transport(MpiSession&, const UcxOptions& options) {
  check_ucx(options.rails);
  return nullptr;
}

}  // namespace dsea

#endif
