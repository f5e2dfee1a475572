// Ranks of transport nccl that are threads of this process: by the mock of NCCL, on GPUs of the CUDA shim.
#pragma once

#include <barrier>
#include <memory>
#include <vector>

#include "dsea/comm/nccl_transport.hpp"

namespace comm_test {

/// What the ranks of one ring share; outlives their transports.
class NcclRanks {
 public:
  explicit NcclRanks(int ranks);

  /// Each rank's thread asks for its own, once.
  dsea::NcclWorld world(int rank);

  /// GPU `rank` of the shim.
  static dsea::Device device(int rank);

  /// world() and device() and the mock together.
  std::unique_ptr<dsea::Transport> transport(int rank, const dsea::NcclOptions& options = {});

 private:
  const int ranks_;
  std::vector<std::unique_ptr<dsea::Transport>> base_, offers_, answers_;  // answers go round the ring the other way
  std::barrier<> meeting_;
  std::vector<std::vector<std::byte>> brought_;
};

}  // namespace comm_test
