#include <gtest/gtest.h>
#include <mpi.h>

#include "comm/harness.hpp"
#include "dsea/comm/ucx_transport.hpp"

namespace comm_test {

void on_every_rank(const std::function<void(dsea::Transport&)>& body, const Options& options) {
  dsea::MpiSession session;
  dsea::UcxOptions ucx;
  if (options.chunk_bytes > 0) ucx.chunk_bytes = options.chunk_bytes;
  try {
    const auto transport = dsea::make_ucx_transport(session, ucx);
    body(*transport);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

bool sender_sees_mismatch() { return false; }

}  // namespace comm_test
