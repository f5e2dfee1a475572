// What process_harness.cpp, the harness for transports whose ranks are MPI processes, is to be told of a transport.
#pragma once

#include <cstddef>
#include <memory>

#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/transport.hpp"

namespace comm_test {

/// This rank's transport; each program defines it. `chunk_bytes`: largest message; 0: the transport's default.
std::unique_ptr<dsea::Transport> make_process_transport(dsea::MpiSession& session, std::size_t chunk_bytes);

}  // namespace comm_test
