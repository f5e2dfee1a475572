#include "comm/process_harness.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include "comm/harness.hpp"

namespace comm_test {

void on_every_rank(const std::function<void(dsea::Transport&)>& body, const Options& options) {
  dsea::MpiSession session;
  try {
    const auto transport = make_process_transport(session, options.chunk_bytes);
    body(*transport);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

bool sender_sees_mismatch() { return false; }

bool moves_device_memory() { return false; }

}  // namespace comm_test
