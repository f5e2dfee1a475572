// The transport between processes: the one asked for, or the one that turns out to be faster.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsea/comm/link_probe.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/transport.hpp"
#include "dsea/comm/ucx_transport.hpp"
#include "dsea/device/device.hpp"

namespace dsea {

struct TransportRequest {
  std::string name = "auto";     ///< "auto", "mpi", "ucx" or "nccl"
  UcxOptions ucx;                ///< its rails are on this node: check_ucx()
  std::optional<Device> device;  ///< this rank's; for nccl, and for device memory by mpi
  bool measure = true;           ///< whether links are to be measured; otherwise "auto" takes ucx if it has rails
};

struct ChosenTransport {
  std::unique_ptr<MpiSession> line;      ///< what the transport was made over; goes after it
  std::unique_ptr<Transport> transport;  ///< never null
  LinkSpeed from_previous;               ///< of the link that comes in here, if measured
  std::vector<RailTraffic> rails;        ///< what measuring took, by the rails of the transport
  std::string why;                       ///< one line, the same on all ranks; empty if it was asked for
};

/// Bytes per second over the slowest link with either transport, why ucx cannot be used ("failed: ..."; empty if it
/// can), and whether ucx was given rails: which of them "auto" takes, and the line that says so. Of two within 5 % the
/// simpler one, mpi; with rails ucx, which does without one that is lost.
struct TransportChoice {
  bool ucx = false;
  std::string why;
};
TransportChoice choose_transport(double mpi, double ucx, const std::string& no_ucx, bool rails);

/// Collective, over a session that has its heartbeat. "auto" takes the one whose slowest link is faster, or mpi where
/// ucx does not work. Throws UsageError and RunError of the transports and of the probe.
ChosenTransport make_transport(MpiSession& session, const TransportRequest& request);

}  // namespace dsea
