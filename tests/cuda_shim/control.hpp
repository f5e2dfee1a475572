// What a test can ask and choose. All functions are thread safe.
//
// Environment: DSEA_SHIM_ORDER=forward|reverse|random:SEED (forward), DSEA_SHIM_DEVICES=number of GPUs (1),
// DSEA_SHIM_MEMORY=bytes of each (4 GiB).
//
// What goes wrong in a kernel makes every later call for that device fail, as on a GPU, with cudaErrorLaunchFailure or
// cudaErrorIllegalAddress, whose cudaGetErrorString says more, and is written to stderr. A fault that nobody asked
// about ends the process with code 70 when it exits.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cuda_shim/order.hpp"

namespace shim {

/// For launches from now on.
void set_order(const Order& order);

/// Launches since the last reset, by the kernel's name with its template arguments.
std::map<std::string, std::int64_t> launches();
std::int64_t launch_count();
void reset_launches();

/// What went wrong in kernels since the last call, one a line; devices work again. Queued work has been dropped.
std::string take_faults();

}  // namespace shim
