// Makes the rails of this rank and connects them with the other ranks'. For ucx_*.cpp only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/rail_routes.hpp"
#include "dsea/comm/ucx_loop.hpp"
#include "dsea/comm/ucx_transport.hpp"

namespace dsea::detail {

/// What this rank has of the network.
struct UcxConnections {
  struct Relay {
    std::unique_ptr<UcxRail> to_sender, to_receiver;
  };
  UcxRails to_next, from_previous;
  std::vector<std::string> to_next_names, from_previous_names;  ///< of the rails: "rail0"
  bool next_within_node = false, previous_within_node = false;
  std::vector<Relay> relays;
  std::vector<std::string> places;  ///< of all ranks: "rank 1 on en2"
  bool relayed = false;             ///< some rail of this rank leads over others
};

/// Collective over all ranks; with at least two. Slices of the start have no connection from rank 0 to 1, and none that
/// are relayed: they travel only once. UsageError if ranks have different numbers of rails, RunError that names the
/// rail if a connection cannot be made.
UcxConnections connect_ucx(MpiSession& session, const UcxOptions& options, Connection connection);

}  // namespace dsea::detail
