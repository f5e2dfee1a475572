// One end of a rail: a UCX context, a worker and an endpoint to the other end. For ucx_*.cpp only, since it includes
// ucp.h.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsea/base/error.hpp"
#include "dsea/comm/segments.hpp"
#include "dsea/comm/ucx_protocol.hpp"

namespace dsea::detail {

/// A rail's error; others may go on.
class UcxRailError : public RunError {
 public:
  using RunError::RunError;
};

/// Throws UcxRailError with UCX's own text if `status` is an error; `what` says what was tried.
void ucx_check(ucs_status_t status, const std::string& what);

/// A message under way: its request, and the pieces of memory that it comes from or goes to, which must stay.
struct UcxMessage {
  void* request = nullptr;
  std::size_t count = 0;
  std::array<ucp_dt_iov_t, SegmentList::most> pieces;

  void clear() { count = 0; }
  void add(void* data, std::size_t bytes) { pieces[count++] = {data, bytes}; }
};

/// A message that has begun to arrive.
struct UcxIncoming {
  ucp_tag_message_h message;
  std::uint64_t tag;
  std::size_t bytes;
};

/// Used by one thread at a time. All members throw UcxRailError for UCX's errors, after which the rail can only be
/// destroyed.
class UcxRail {
 public:
  /// `device`: network device, or empty for whatever UCX finds, such as shared memory within a node. `name`: for
  /// errors, "rail eth0 from rank 0 to rank 1".
  UcxRail(const std::string& device, std::string name);
  /// Ends what is under way, at once if the rail is broken or given up; nothing is written by it afterwards.
  ~UcxRail();
  UcxRail(const UcxRail&) = delete;
  UcxRail& operator=(const UcxRail&) = delete;

  const std::string& name() const { return name_; }

  /// Where the other end reaches this one.
  std::vector<std::byte> address() const;
  /// The address of the other end.
  void connect(std::span<const std::byte> address);
  /// Makes memory known to the network card for the rail's life, where the card wants that.
  void use_memory(void* data, std::size_t bytes, bool on_device);

  /// Sends the pieces of the message. `sync`: not complete before the other end has begun to receive it.
  void send(UcxMessage& message, std::uint64_t tag, bool sync = false);
  /// A message that matches and has begun to arrive; it must be received.
  std::optional<UcxIncoming> take(UcxMatch match);
  /// Receives it into the pieces, which hold incoming.bytes.
  void receive(UcxMessage& into, const UcxIncoming& incoming);
  /// Receives into the pieces what will have this tag.
  void expect(UcxMessage& into, std::uint64_t tag);
  /// True if the message is complete, or there is none.
  bool test(UcxMessage& message);

  /// Ends a message that is under way; of a rail that was given up.
  void abandon(UcxMessage& message) noexcept;

  /// Sends a short message (up to ucx_small bytes), which is copied. False, and nothing sent, while too many are under
  /// way.
  bool send_small(std::uint64_t tag, std::span<const std::byte> bytes = {});
  /// A short message that matches, once it is complete; its bytes are valid until the next call.
  struct Small {
    std::uint64_t tag;
    std::span<const std::byte> bytes;
  };
  std::optional<Small> take_small(UcxMatch match);

  /// Works off what has happened; true if anything has. Throws if the connection is broken.
  bool progress();
  /// True if nothing has happened since progress(): the next event will make event_fd() readable.
  bool arm();
  bool armed() const { return armed_; }
  int event_fd() const { return event_fd_; }
  /// Its file is readable, or it is to be looked at all the same. Until then, or until something is begun on it, a rail
  /// that is armed has nothing new, and asking UCX would be a handful of system calls each time.
  void woken() { armed_ = false; }
  /// A start that failed: what UCX has of it is left as it is, because UCX 1.13 stops the program when a connection
  /// that is being made is closed.
  void leave() { left_ = true; }
  /// The other end is not to be waited for any more.
  void give_up() { broken_ = UCS_ERR_ENDPOINT_TIMEOUT; }

 private:
  struct Letter {
    UcxMessage message;
    std::array<std::byte, ucx_small> text;
  };
  /// What UCX has answered to a message.
  void begin(UcxMessage& message, void* request, const char* doing);
  static void broke(void* rail, ucp_ep_h endpoint, ucs_status_t status);

  std::string name_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  int event_fd_ = -1;
  ucs_status_t broken_ = UCS_OK;
  std::vector<ucp_mem_h> memory_;
  std::array<Letter, 8> out_;
  Letter in_;
  std::uint64_t in_tag_ = 0;
  std::size_t in_bytes_ = 0;
  bool armed_ = false;
  bool left_ = false;
  bool in_taken_ = false;  // in_ is being received
};

}  // namespace dsea::detail
