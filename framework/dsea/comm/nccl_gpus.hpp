// Which rank has which GPU: NCCL serves one rank a GPU. For nccl_*.cpp only.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "dsea/device/device.hpp"

namespace dsea::detail {

/// Throws UsageError if the device is no GPU.
void demand_gpu(const Device& device);

/// Collective by `exchange`, which brings every rank's bytes to all. Throws the same UsageError on all ranks if two
/// share a GPU.
void demand_one_gpu_each(
    const Device& device,
    const std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte>)>& exchange);

}  // namespace dsea::detail
