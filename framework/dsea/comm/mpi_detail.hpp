// What mpi_*.cpp share; no other file may include this one, since it includes mpi.h.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "dsea/comm/deadline.hpp"
#include "dsea/comm/transport.hpp"

namespace dsea::detail {

/// Throws RunError with MPI's own text if `code` is not MPI_SUCCESS; `what` says what was tried.
void mpi_check(int code, const std::string& what);

/// Polls a request until it is complete, the deadline has passed or `give_up` is true, asleep in between; true if it is
/// complete.
bool mpi_poll(MPI_Request& request, const std::string& what, Clock::time_point deadline,
              const std::function<bool()>& give_up = {});

/// A duplicate of MPI_COMM_WORLD that returns errors. Collective, in the same order on all ranks. Throws RunError if
/// not all have come by the deadline. Never to be freed before MPI is finalised: a message that was sent and not
/// received would turn up in the next communicator that gets the same number.
MPI_Comm mpi_duplicate_world(Clock::time_point deadline);
MPI_Comm mpi_duplicate(MPI_Comm communicator, Clock::time_point deadline);

/// Ports to one other rank; a pair of ranks has at most one port in each direction on a communicator. With
/// `device_copy` they take device memory, which MPI must know how to move; the function must be set before the first
/// transfer.
std::unique_ptr<SendPort> make_mpi_send_port(MPI_Comm communicator, int me, int other, std::size_t chunk_bytes,
                                             const Transport::Copy* device_copy = nullptr);
std::unique_ptr<ReceivePort> make_mpi_receive_port(MPI_Comm communicator, int me, int other,
                                                   const Transport::Copy* device_copy = nullptr);

}  // namespace dsea::detail
