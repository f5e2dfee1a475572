#include "dsea/comm/ucx_context.hpp"

#include <ucs/config/global_opts.h>

#include <cstdlib>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/system_files.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/ucx_rail.hpp"

namespace dsea::detail {

namespace {

/// What differs from UCX's own choice for shared memory, unless the environment chooses. UCX takes none for connections
/// whose errors are handled, as ours are, unless told to, but TCP within the node, which costs twice the processor time
/// a byte. And its buffers of 8 KiB hold less than what is under way, so that a sender waits for room, which UCX cannot
/// do asleep. 60 KiB is about the most, as lengths have 16 bits; fewer buffers at a time keep the memory small.
void tune_shared_memory(ucp_config_t* config) {
  constexpr std::pair<const char*, const char*> choices[] = {
      {"ERROR_HANDLING", "y"}, {"SEG_SIZE", "60K"}, {"RX_BUFS_GROW", "80"}};
  for (const auto& [name, value] : choices) {
    bool chosen = false;
    for (const char* transport : {"MM_", "POSIX_", "SYSV_"}) {
      chosen = chosen || std::getenv(cat("UCX_", transport, name).c_str()) != nullptr;
    }
    if (!chosen) static_cast<void>(ucp_config_modify(config, cat("MM_", name).c_str(), value));
  }
}

}  // namespace

ucp_context_h open_ucx_context(const std::string& device, const std::string& name) {
  // Its warnings are of messages that nobody took, as when a rail is given up: this library says such things itself.
  if (std::getenv("UCX_LOG_LEVEL") == nullptr) ucs_global_opts_set_value("LOG_LEVEL", "error");
  ucp_config_t* config = nullptr;
  ucx_check(ucp_config_read(nullptr, nullptr, &config), name + ": reading the configuration");
  if (device.empty()) {
    tune_shared_memory(config);
  } else {
    const ucs_status_t status = ucp_config_modify(config, "NET_DEVICES", device.c_str());
    if (status != UCS_OK) ucp_config_release(config);
    ucx_check(status, name + ": choosing the device");
  }
  ucp_params_t p{};
  p.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  p.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  p.estimated_num_eps = 1;
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp_init(&p, config, &context);
  ucp_config_release(config);
  ucx_check(status, name + ": opening a context");
  return context;
}

void demand_network_device(const std::string& device) {
  const std::string without_port = device.substr(0, device.find(':'));
  std::string there;
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/net"}) {
    for (const std::string& name : names_in_folder(folder)) {
      if (name == without_port) {
        if (first_word_of(cat(folder, "/", name, "/operstate")) != "down") return;
        throw UsageError(cat("network device '", device, "' of ring.rails is down on ", host_name(),
                             ": bring it up, or leave it out"));
      }
      there += cat(there.empty() ? "" : ", ", name);
    }
  }
  throw UsageError(
      cat("there is no network device '", device, "' on this node; there are: ", there, " (", host_name(), ")"));
}

std::string ucx_version() {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  return cat("UCX ", major, ".", minor, ".", release);
}

bool ucx_takes_cuda_memory() {
  const ucp_context_h context = open_ucx_context("", "asking for kinds of memory");
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  const ucs_status_t status = ucp_context_query(context, &attributes);
  ucp_cleanup(context);
  ucx_check(status, "asking for kinds of memory");
  return (attributes.memory_types >> UCS_MEMORY_TYPE_CUDA & 1) != 0;
}

}  // namespace dsea::detail
