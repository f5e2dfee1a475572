#include "dsea/comm/nccl_api.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {
namespace {

constexpr const char* nccl_setting = "DSEA_NCCL_LIBRARY";

template <class Function>
void find_function(void* library, const std::string& path, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return;
  throw UsageError(cat("nccl: ", path, " has no function ", name, ": NCCL 2.18 or later is needed; ", nccl_setting,
                       "=PATH names another library"));
}

}  // namespace

std::string nccl_version_text(int version) {
  return cat(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

NcclApi load_nccl() {
  const char* const named = std::getenv(nccl_setting);
  const bool set = named != nullptr && *named != '\0';
  NcclApi api;
  api.library = set ? named : "libnccl.so.2";
  void* const library = dlopen(api.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw UsageError(cat("nccl: cannot load ", api.library, " (", why != nullptr ? why : "no reason given",
                         "): looked for ",
                         set ? cat("what ", nccl_setting, " names")
                             : cat("it where the loader looks (LD_LIBRARY_PATH); ", nccl_setting, " is not set"),
                         ". Install NCCL 2.18 or later (a cluster's module nccl, the package libnccl2, or pip's "
                         "nvidia-nccl-cu12) and set ",
                         nccl_setting, " to its libnccl.so.2, or use --transport ucx or mpi"));
  }
  const std::string& path = api.library;
  find_function(library, path, "ncclGetVersion", api.get_version);
  find_function(library, path, "ncclGetUniqueId", api.get_unique_id);
  find_function(library, path, "ncclCommInitRankConfig", api.comm_init_rank_config);
  find_function(library, path, "ncclCommGetAsyncError", api.comm_get_async_error);
  find_function(library, path, "ncclCommFinalize", api.comm_finalize);
  find_function(library, path, "ncclCommDestroy", api.comm_destroy);
  find_function(library, path, "ncclCommAbort", api.comm_abort);
  find_function(library, path, "ncclGroupStart", api.group_start);
  find_function(library, path, "ncclGroupEnd", api.group_end);
  find_function(library, path, "ncclSend", api.send);
  find_function(library, path, "ncclRecv", api.receive);
  find_function(library, path, "ncclGetErrorString", api.get_error_string);
  find_function(library, path, "ncclGetLastError", api.get_last_error);
  int version = 0;
  if (api.get_version(&version) != nccl_success || version < nccl_least_version) {
    throw UsageError(cat("nccl: ", path, " is NCCL ", nccl_version_text(version), ", but 2.18 or later is needed; ",
                         nccl_setting, "=PATH names another library"));
  }
  api.version = nccl_version_text(version);
  return api;
}

}  // namespace dsea
