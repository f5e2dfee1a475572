#include "dsea/comm/nccl_link.hpp"

#include <chrono>
#include <utility>

#include "dsea/base/backoff.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::detail {

NcclLink::NcclLink(const NcclApi& api, const Device& device, const NcclUniqueId& id, bool sends, std::string name,
                   Clock::time_point deadline)
    : api_(api), device_(device), sends_(sends), name_(std::move(name)) {
  device_.make_current();
  NcclConfig config;
  check(api_.comm_init_rank_config(&comm_, 2, id, sends ? 0 : 1, &config), "making a communicator");
  for (Backoff backoff; !settled(); backoff.pause()) {
    if (time_left(deadline).count() > 0) continue;
    abort();
    throw RunError(name_ + ": the other rank did not come to make the communicator in time; see what it says");
  }
}

void NcclLink::begin(std::span<const NcclMessage> messages, Stream& stream) {
  if (comm_ == nullptr) throw RunError(name_ + ": the connection is broken");
  const int peer = sends_ ? 1 : 0;
  int result = api_.group_start();
  for (const NcclMessage& m : messages) {
    if (result != nccl_success && result != nccl_in_progress) break;
    result = sends_ ? api_.send(m.data, m.bytes, nccl_bytes, peer, comm_, stream.native())
                    : api_.receive(m.data, m.bytes, nccl_bytes, peer, comm_, stream.native());
  }
  const int ended = api_.group_end();  // also after an error: the group belongs to this thread
  check(result, sends_ ? "sending" : "receiving");
  check(ended, sends_ ? "sending" : "receiving");
}

bool NcclLink::settled() {
  if (comm_ == nullptr) throw RunError(name_ + ": the connection is broken");
  int state = nccl_success;
  const int result = api_.comm_get_async_error(comm_, &state);
  check(result, "asking for errors");
  check(state, "the connection");
  return state == nccl_success;
}

void NcclLink::abort() noexcept {
  if (comm_ == nullptr) return;
  try {
    device_.make_current();
  } catch (const std::exception&) {  // the abort is worth a try all the same
  }
  api_.comm_abort(std::exchange(comm_, nullptr));
}

void NcclLink::close() noexcept {
  if (comm_ == nullptr) return;
  const auto deadline = deadline_after(std::chrono::seconds(2));
  int state = api_.comm_finalize(comm_);
  for (Backoff backoff; state == nccl_in_progress && time_left(deadline).count() > 0;) {
    if (api_.comm_get_async_error(comm_, &state) != nccl_success) break;
    if (state == nccl_in_progress) backoff.pause();
  }
  if (state != nccl_success) {
    abort();
    return;
  }
  api_.comm_destroy(std::exchange(comm_, nullptr));
}

void NcclLink::check(int result, const char* what) {
  if (result != nccl_success && result != nccl_in_progress) give_up(result, what);
}

void NcclLink::give_up(int result, const char* what) {
  const char* const text = api_.get_error_string(result);
  const char* const last = api_.get_last_error(comm_);
  std::string message = cat(name_, ": ", what, " failed: ", text != nullptr ? text : "unknown error");
  if (last != nullptr && *last != '\0') message += cat(" (", last, ")");
  abort();
  throw RunError(message + "; NCCL_DEBUG=INFO makes NCCL say more");
}

}  // namespace dsea::detail
