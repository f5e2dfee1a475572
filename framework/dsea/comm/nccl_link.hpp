// The NCCL communicator of one link of the ring.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dsea/comm/deadline.hpp"
#include "dsea/comm/nccl_api.hpp"
#include "dsea/device/device.hpp"
#include "dsea/device/stream.hpp"

namespace dsea::detail {

/// Device memory that one message sends or fills.
struct NcclMessage {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Two ranks: 0 sends, 1 receives. No call waits, except at the start and at the end, and these have limits. Used by
/// one thread at a time. Whatever NCCL reports is a RunError that begins with `name`; the link is aborted first, so
/// that the GPU does not wait for ever.
class NcclLink {
 public:
  /// Collective over both ends. RunError if the other one has not come by the deadline.
  NcclLink(const NcclApi& api, const Device& device, const NcclUniqueId& id, bool sends, std::string name,
           Clock::time_point deadline);
  /// Ends the communicator together with the other end where that comes soon, else aborts it.
  ~NcclLink() { close(); }
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;

  /// Begins to bring messages into the stream, all at once; both ends give as many, of the same sizes. They are there
  /// when settled() is true.
  void begin(std::span<const NcclMessage> messages, Stream& stream);

  /// Has NCCL done what it was told? Also finds errors that came by themselves.
  bool settled();

  /// Ends what is under way on the GPU. Nothing goes through any more.
  void abort() noexcept;
  void close() noexcept;

  const std::string& name() const { return name_; }

 private:
  void check(int result, const char* what);
  [[noreturn]] void give_up(int result, const char* what);

  const NcclApi api_;
  const Device device_;
  const bool sends_;
  const std::string name_;
  NcclComm comm_ = nullptr;  // null once it is ended
};

}  // namespace dsea::detail
