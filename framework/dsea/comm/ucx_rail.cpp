#include "dsea/comm/ucx_rail.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/ucx_context.hpp"

namespace dsea::detail {

namespace {

/// A worker's last work, when it is given up.
void progress_for(ucp_worker_h worker, void* request) noexcept {
  const Clock::time_point deadline = deadline_after(std::chrono::milliseconds(200));
  while (ucp_request_check_status(request) == UCS_INPROGRESS && time_left(deadline).count() > 0) {
    ucp_worker_progress(worker);
  }
}

/// A message's memory as UCX takes it: one piece as it is, several as a list.
struct MessageMemory {
  explicit MessageMemory(UcxMessage& message)
      : data(message.count == 1 ? message.pieces[0].buffer : message.pieces.data()),
        count(message.count == 1 ? message.pieces[0].length : message.count) {
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    parameters.datatype = message.count == 1 ? ucp_dt_make_contig(1) : ucp_dt_make_iov();
  }
  void* data;
  std::size_t count;
  ucp_request_param_t parameters{};
};

}  // namespace

void ucx_check(ucs_status_t status, const std::string& what) {
  if (status != UCS_OK) throw UcxRailError(cat("ucx: ", what, " failed: ", ucs_status_string(status)));
}

UcxRail::UcxRail(const std::string& device, std::string name) : name_(std::move(name)) {
  context_ = open_ucx_context(device, name_);
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
  if (left_) return;
  for (Letter& letter : out_) abandon(letter.message);
  abandon(in_.message);
  if (endpoint_ != nullptr) {
    // Not by force, unless it is broken: UCX 1.13 stops the program when a connection that is being made is forced to
    // end.
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = broken_ == UCS_OK ? 0 : UCP_EP_CLOSE_FLAG_FORCE;
    void* const request = ucp_ep_close_nbx(endpoint_, &how);
    if (UCS_PTR_IS_PTR(request)) {
      progress_for(worker_, request);
      ucp_request_free(request);
    }
  }
  // UCX 1.13 may stop the program when a worker is destroyed whose connection broke, or that is left, in the middle of
  // transfers. It does nothing while nobody calls it, so it is left as it is: some memory and a few files for a rail
  // that was lost.
  if (broken_ != UCS_OK) return;
  for (ucp_mem_h memory : memory_) ucp_mem_unmap(context_, memory);
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
  ucp_ep_params_t ep{};
  ep.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  ep.address = reinterpret_cast<const ucp_address_t*>(address.data());
  ep.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  ep.err_handler.cb = &UcxRail::broke;
  ep.err_handler.arg = this;
  ucx_check(ucp_ep_create(worker_, &ep, &endpoint_), name_ + ": connecting");
}

void UcxRail::broke(void* rail, ucp_ep_h, ucs_status_t status) { static_cast<UcxRail*>(rail)->broken_ = status; }

void UcxRail::use_memory(void* data, std::size_t bytes, bool on_device) {
  if (bytes == 0) return;
  ucp_mem_map_params_t p{};
  p.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
  p.address = data;
  p.length = bytes;
  p.memory_type = on_device ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
  ucp_mem_h memory = nullptr;
  ucx_check(ucp_mem_map(context_, &p, &memory), name_ + ": registering memory");
  memory_.push_back(memory);
}

void UcxRail::begin(UcxMessage& message, void* request, const char* doing) {
  if (UCS_PTR_IS_ERR(request)) ucx_check(UCS_PTR_STATUS(request), name_ + doing);
  message.request = request;
  armed_ = false;
}

void UcxRail::send(UcxMessage& message, std::uint64_t tag, bool sync) {
  const MessageMemory m(message);
  begin(message,
        sync ? ucp_tag_send_sync_nbx(endpoint_, m.data, m.count, tag, &m.parameters)
             : ucp_tag_send_nbx(endpoint_, m.data, m.count, tag, &m.parameters),
        ": sending");
}

std::optional<UcxIncoming> UcxRail::take(UcxMatch match) {
  ucp_tag_recv_info_t info;
  const ucp_tag_message_h message = ucp_tag_probe_nb(worker_, match.tag, match.mask, 1, &info);
  if (message == nullptr) return std::nullopt;
  return UcxIncoming{message, info.sender_tag, info.length};
}

void UcxRail::receive(UcxMessage& into, const UcxIncoming& incoming) {
  const MessageMemory m(into);
  begin(into, ucp_tag_msg_recv_nbx(worker_, m.data, m.count, incoming.message, &m.parameters), ": receiving");
}

void UcxRail::expect(UcxMessage& into, std::uint64_t tag) {
  const MessageMemory m(into);
  begin(into, ucp_tag_recv_nbx(worker_, m.data, m.count, tag, ~ucp_tag_t{0}, &m.parameters), ": receiving");
}

bool UcxRail::test(UcxMessage& message) {
  if (message.request == nullptr) return true;
  const ucs_status_t status = ucp_request_check_status(message.request);
  if (status == UCS_INPROGRESS) return false;
  ucp_request_free(message.request);
  message.request = nullptr;
  ucx_check(status, name_ + ": a transfer");
  return true;
}

void UcxRail::abandon(UcxMessage& message) noexcept {
  if (message.request == nullptr) return;
  if (ucp_request_check_status(message.request) == UCS_INPROGRESS) ucp_request_cancel(worker_, message.request);
  if (ucp_request_check_status(message.request) == UCS_INPROGRESS) give_up();  // in the middle of a rendezvous
  ucp_request_free(message.request);                                           // at once, or when it is complete
  message.request = nullptr;
}

bool UcxRail::send_small(std::uint64_t tag, std::span<const std::byte> bytes) {
  for (Letter& letter : out_) {
    if (!test(letter.message)) continue;
    std::copy(bytes.begin(), bytes.end(), letter.text.begin());
    letter.message.clear();
    letter.message.add(letter.text.data(), bytes.size());
    send(letter.message, tag);
    return true;
  }
  return false;
}

std::optional<UcxRail::Small> UcxRail::take_small(UcxMatch match) {
  if (!in_taken_) {
    const auto incoming = take(match);
    if (!incoming) return std::nullopt;
    if (incoming->bytes > ucx_small)
      throw RunError(name_ + ": a message that is too long: are all ranks the same program?");
    in_tag_ = incoming->tag;
    in_bytes_ = incoming->bytes;
    in_taken_ = true;
    in_.message.clear();
    in_.message.add(in_.text.data(), in_bytes_);
    receive(in_.message, *incoming);
  }
  if (!test(in_.message)) return std::nullopt;
  in_taken_ = false;
  return Small{in_tag_, {in_.text.data(), in_bytes_}};
}

bool UcxRail::progress() {
  if (armed_) return false;
  bool any = false;
  while (ucp_worker_progress(worker_) != 0) any = true;
  ucx_check(broken_, name_ + ": the connection");
  return any;
}

bool UcxRail::arm() {
  if (armed_) return true;
  const ucs_status_t status = ucp_worker_arm(worker_);
  if (status == UCS_ERR_BUSY) return false;
  ucx_check(status, name_ + ": preparing to wait");
  return armed_ = true;
}

}  // namespace dsea::detail
