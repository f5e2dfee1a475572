#include "dsea/comm/ucx_rail.hpp"

#include <chrono>
#include <filesystem>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/deadline.hpp"

namespace dsea::detail {

namespace {

/// A worker's last work, when it is given up.
void progress_for(ucp_worker_h worker, void* request) noexcept {
  const Clock::time_point deadline = deadline_after(std::chrono::milliseconds(200));
  while (ucp_request_check_status(request) == UCS_INPROGRESS && time_left(deadline).count() > 0) {
    ucp_worker_progress(worker);
  }
}

/// One piece is sent as it is, several as a list.
ucp_request_param_t parameters(std::size_t pieces) {
  ucp_request_param_t p{};
  p.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
  p.datatype = pieces == 1 ? ucp_dt_make_contig(1) : ucp_dt_make_iov();
  return p;
}

std::vector<std::string> names_in(const char* folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace

void ucx_check(ucs_status_t status, const std::string& what) {
  if (status != UCS_OK) throw RunError(cat("ucx: ", what, " failed: ", ucs_status_string(status)));
}

void demand_network_device(const std::string& device) {
  const std::string without_port = device.substr(0, device.find(':'));
  std::string there;
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/net"}) {
    for (const std::string& name : names_in(folder)) {
      if (name == without_port) return;
      there += cat(there.empty() ? "" : ", ", name);
    }
  }
  throw UsageError(cat("there is no network device '", device, "' on this node; there are: ", there));
}

UcxRail::UcxRail(const std::string& device, std::string name) : name_(std::move(name)) {
  ucp_config_t* config = nullptr;
  ucx_check(ucp_config_read(nullptr, nullptr, &config), name_ + ": reading the configuration");
  if (!device.empty()) {
    const ucs_status_t status = ucp_config_modify(config, "NET_DEVICES", device.c_str());
    if (status != UCS_OK) ucp_config_release(config);
    ucx_check(status, name_ + ": choosing the device");
  }
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  parameters.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  parameters.estimated_num_eps = 1;
  const ucs_status_t status = ucp_init(&parameters, config, &context_);
  ucp_config_release(config);
  ucx_check(status, name_ + ": opening a context");
  try {
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // made by one thread, used by another
    ucx_check(ucp_worker_create(context_, &worker, &worker_), name_ + ": making a worker");
    ucx_check(ucp_worker_get_efd(worker_, &event_fd_), name_ + ": asking for the file of its events");
  } catch (...) {
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
    throw;
  }
}

UcxRail::~UcxRail() {
  if (endpoint_ != nullptr) {
    // Not by force, unless it is broken: UCX 1.13 stops the program when a connection that is being made is forced to
    // end.
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = broken_ == UCS_OK ? 0 : UCP_EP_CLOSE_FLAG_FORCE;
    void* const request = ucp_ep_close_nbx(endpoint_, &parameters);
    if (UCS_PTR_IS_PTR(request)) {
      progress_for(worker_, request);
      ucp_request_free(request);
    }
  }
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

std::vector<std::byte> UcxRail::address() const {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  ucx_check(ucp_worker_get_address(worker_, &address, &length), name_ + ": asking for its address");
  const auto* const bytes = reinterpret_cast<const std::byte*>(address);
  std::vector<std::byte> copy(bytes, bytes + length);
  ucp_worker_release_address(worker_, address);
  return copy;
}

void UcxRail::connect(std::span<const std::byte> address) {
  ucp_ep_params_t parameters{};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler.cb = &UcxRail::broke;
  parameters.err_handler.arg = this;
  ucx_check(ucp_ep_create(worker_, &parameters, &endpoint_), name_ + ": connecting");
}

void UcxRail::broke(void* rail, ucp_ep_h, ucs_status_t status) { static_cast<UcxRail*>(rail)->broken_ = status; }

void* UcxRail::send(const ucp_dt_iov_t* pieces, std::size_t count, std::uint64_t tag, bool sync) {
  const ucp_request_param_t p = parameters(count);
  const void* const data = count == 1 ? pieces->buffer : pieces;
  const std::size_t n = count == 1 ? pieces->length : count;
  void* const request =
      sync ? ucp_tag_send_sync_nbx(endpoint_, data, n, tag, &p) : ucp_tag_send_nbx(endpoint_, data, n, tag, &p);
  if (UCS_PTR_IS_ERR(request)) ucx_check(UCS_PTR_STATUS(request), name_ + ": sending");
  return request;
}

void* UcxRail::receive(const ucp_dt_iov_t* pieces, std::size_t count, std::uint64_t tag) {
  const ucp_request_param_t p = parameters(count);
  constexpr ucp_tag_t all_bits = ~ucp_tag_t{0};
  void* const request = count == 1
                            ? ucp_tag_recv_nbx(worker_, pieces->buffer, pieces->length, tag, all_bits, &p)
                            : ucp_tag_recv_nbx(worker_, const_cast<ucp_dt_iov_t*>(pieces), count, tag, all_bits, &p);
  if (UCS_PTR_IS_ERR(request)) ucx_check(UCS_PTR_STATUS(request), name_ + ": receiving");
  return request;
}

bool UcxRail::test(void*& request) {
  if (request == nullptr) return true;
  const ucs_status_t status = ucp_request_check_status(request);
  if (status == UCS_INPROGRESS) return false;
  ucp_request_free(request);
  request = nullptr;
  ucx_check(status, name_ + ": a transfer");
  return true;
}

void UcxRail::cancel(void*& request) noexcept {
  if (request == nullptr) return;
  ucp_request_cancel(worker_, request);
  progress_for(worker_, request);
  ucp_request_free(request);
  request = nullptr;
}

bool UcxRail::progress() {
  bool any = false;
  while (ucp_worker_progress(worker_) != 0) any = true;
  ucx_check(broken_, name_ + ": the connection");
  return any;
}

bool UcxRail::arm() {
  const ucs_status_t status = ucp_worker_arm(worker_);
  if (status == UCS_ERR_BUSY) return false;
  ucx_check(status, name_ + ": preparing to wait");
  return true;
}

}  // namespace dsea::detail
