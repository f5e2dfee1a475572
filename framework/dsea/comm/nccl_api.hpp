// The functions of NCCL that this library uses, found at run time. Includes no NCCL header: none is needed to build.
#pragma once

#include <climits>
#include <cstddef>
#include <string>

namespace dsea {

using NcclComm = void*;  ///< ncclComm_t

/// What ncclGetUniqueId() gives: passed by value, so its size is part of the interface.
struct NcclUniqueId {
  char bytes[128] = {};
};

/// The values of ncclResult_t that are looked at.
inline constexpr int nccl_success = 0;
inline constexpr int nccl_in_progress = 7;

inline constexpr int nccl_bytes = 0;              ///< ncclInt8, as a ncclDataType_t
inline constexpr int nccl_least_version = 21800;  ///< 2.18, the first with this NcclConfig

/// ncclConfig_t as it was in 2.18. Later versions only append members, and take the values of a shorter one.
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = nccl_least_version;
  int blocking = 0;  ///< no call waits; ncclCommGetAsyncError() tells when it is through
  int cga_cluster_size = INT_MIN;
  int min_ctas = INT_MIN;
  int max_ctas = INT_MIN;
  const char* net_name = nullptr;
  int split_share = INT_MIN;
};

/// Functions by NCCL's names. Results are ncclResult_t; streams are cudaStream_t.
struct NcclApi {
  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(NcclUniqueId* id) = nullptr;
  int (*comm_init_rank_config)(NcclComm* comm, int ranks, NcclUniqueId id, int rank, NcclConfig* config) = nullptr;
  int (*comm_get_async_error)(NcclComm comm, int* state) = nullptr;
  int (*comm_finalize)(NcclComm comm) = nullptr;
  int (*comm_destroy)(NcclComm comm) = nullptr;
  int (*comm_abort)(NcclComm comm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void* data, std::size_t count, int type, int peer, NcclComm comm, void* stream) = nullptr;
  int (*receive)(void* data, std::size_t count, int type, int peer, NcclComm comm, void* stream) = nullptr;
  const char* (*get_error_string)(int result) = nullptr;
  const char* (*get_last_error)(NcclComm comm) = nullptr;

  std::string library;  ///< what was loaded
  std::string version;  ///< "2.18.5"
};

/// Loads the library that the environment variable DSEA_NCCL_LIBRARY names, else libnccl.so.2; it stays loaded. Throws
/// UsageError if it is not there, is no NCCL or is older than 2.18.
NcclApi load_nccl();

/// 21805 -> "2.18.5"
std::string nccl_version_text(int version);

}  // namespace dsea
