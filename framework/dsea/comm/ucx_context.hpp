// What this library asks of UCX as a whole: its configuration, and what it and the machine can do. For ucx_*.cpp only,
// since it includes ucp.h.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace dsea::detail {

/// A context for one rail over a network device, or for what UCX finds if `device` is empty. `name`: for errors, which
/// are UcxRailError.
ucp_context_h open_ucx_context(const std::string& device, const std::string& name);

/// Throws UsageError, which names those there are, unless the machine has this network device ("eth0", "mlx5_0:1").
void demand_network_device(const std::string& device);

/// Version of the library that is loaded: "UCX 1.13.1".
std::string ucx_version();
/// Can it move memory of GPUs?
bool ucx_takes_cuda_memory();

}  // namespace dsea::detail
