// What transport nccl has from MPI: its ranks, the exchange of ids, and the control connections of its links.
#include <vector>

#include "dsea/comm/mpi_detail.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "dsea/comm/nccl_gpus.hpp"
#include "dsea/comm/nccl_transport.hpp"

namespace dsea {
namespace {

/// As for the ring's links: a thread uses one communicator, and no other thread of its rank does.
struct NcclControlPorts {
  NcclControlPorts(int rank, int size, Clock::time_point deadline) {
    const MPI_Comm even = detail::mpi_duplicate_world(deadline);
    const MPI_Comm odd = detail::mpi_duplicate_world(deadline);
    const MPI_Comm last = size % 2 != 0 ? detail::mpi_duplicate_world(deadline) : MPI_COMM_NULL;
    const auto of_link = [&](int from) {
      if (size % 2 != 0 && from == size - 1) return last;
      return from % 2 == 0 ? even : odd;
    };
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    constexpr std::size_t chunk = std::size_t{1} << 20;  // its messages are far shorter
    to_next = detail::make_mpi_send_port(of_link(rank), rank, next, chunk);
    from_next = detail::make_mpi_receive_port(of_link(rank), rank, next);
    to_previous = detail::make_mpi_send_port(of_link(previous), rank, previous, chunk);
    from_previous = detail::make_mpi_receive_port(of_link(previous), rank, previous);
  }

  std::unique_ptr<SendPort> to_next, to_previous;
  std::unique_ptr<ReceivePort> from_next, from_previous;
};

}  // namespace

void check_nccl(const Device& device) {
  detail::demand_gpu(device);
  load_nccl();
}

NcclWorld make_mpi_nccl_world(MpiSession& session, std::chrono::nanoseconds timeout) {
  NcclWorld world;
  world.base = make_mpi_transport(session, {.start_timeout = timeout});
  if (session.size() > 1) {
    auto ports = std::make_shared<NcclControlPorts>(session.rank(), session.size(), deadline_after(timeout));
    world.next = {ports->to_next.get(), ports->from_next.get()};
    world.previous = {ports->to_previous.get(), ports->from_previous.get()};
    world.owner = std::move(ports);
  }
  world.exchange = [&session, timeout](std::span<const std::byte> mine) { return session.gather_all(mine, timeout); };
  return world;
}

std::unique_ptr<Transport> make_nccl_transport(MpiSession& session, const Device& device, const NcclOptions& options) {
  detail::demand_gpu(device);
  const NcclApi api = load_nccl();
  return make_nccl_transport(make_mpi_nccl_world(session, options.start_timeout), device, api, options);
}

}  // namespace dsea
