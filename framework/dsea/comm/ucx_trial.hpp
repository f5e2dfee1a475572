// Can this node use UCX at all? Includes no UCX header.
#pragma once

#include <string>
#include <vector>

namespace dsea {

/// Opens UCX on these network devices, or on all it finds, and closes it again, alone: making connections takes all
/// ranks, and there it is late to find out. Empty if that works, otherwise the cause.
std::string try_ucx(const std::vector<std::string>& rails);

}  // namespace dsea
