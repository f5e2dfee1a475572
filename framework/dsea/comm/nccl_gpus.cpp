#include "dsea/comm/nccl_gpus.hpp"

#include <fstream>
#include <map>
#include <string>

#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/text.hpp"

namespace dsea::detail {
namespace {

/// "host\nGPU's address\nwhat tells machines of one name apart".
std::string gpu_identity(const Device& device) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return cat(host_name(), "\n", device.pci_address(), "\n", boot);
}

}  // namespace

void demand_gpu(const Device& device) {
  if (device.is_cuda()) return;
  throw UsageError(cat("nccl moves memory of GPUs only, but this run computes on the host (", device.why(),
                       "): use --transport ucx or mpi"));
}

void demand_one_gpu_each(
    const Device& device,
    const std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte>)>& exchange) {
  const std::string mine = gpu_identity(device);
  const auto all = exchange(std::as_bytes(std::span(mine)));
  std::map<std::string, std::size_t> owners;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string gpu(reinterpret_cast<const char*>(all[rank].data()), all[rank].size());
    const auto [found, first] = owners.emplace(gpu, rank);
    if (first) continue;
    const std::size_t host_end = gpu.find('\n');
    const std::size_t address_end = gpu.find('\n', host_end + 1);
    throw UsageError(cat("nccl: ranks ", found->second, " and ", rank, " share GPU ",
                         gpu.substr(host_end + 1, address_end - host_end - 1), " of ", gpu.substr(0, host_end),
                         ", and NCCL serves one rank a GPU: give every rank its own (srun --gpus-per-task=1, or "
                         "CUDA_VISIBLE_DEVICES for each rank), or use --transport mpi or ucx"));
  }
}

}  // namespace dsea::detail
