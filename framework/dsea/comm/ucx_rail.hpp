// One network rail of one port: a UCX context, a worker and an endpoint. For ucx_*.cpp only, since it includes ucp.h.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dsea::detail {

/// Throws RunError with UCX's own text if `status` is an error; `what` says what was tried.
void ucx_check(ucs_status_t status, const std::string& what);

/// Throws UsageError, which names those there are, unless the machine has this network device ("eth0", "mlx5_0:1").
void demand_network_device(const std::string& device);

/// Used by one thread at a time. All members throw RunError for UCX's errors.
class UcxRail {
 public:
  /// `device`: empty for all devices. `name`: for errors, "ucx: sending from rank 0 to rank 1, rail eth0".
  UcxRail(const std::string& device, std::string name);
  ~UcxRail();
  UcxRail(const UcxRail&) = delete;
  UcxRail& operator=(const UcxRail&) = delete;

  const std::string& name() const { return name_; }

  /// Where others reach this rail.
  std::vector<std::byte> address() const;
  /// To be able to send: the address of the other rank's rail.
  void connect(std::span<const std::byte> address);

  /// A message of `count` pieces, which stay where they are until the request is complete. Null: it is already.
  /// `sync`: not complete before the other side has begun to receive it.
  void* send(const ucp_dt_iov_t* pieces, std::size_t count, std::uint64_t tag, bool sync);
  void* receive(const ucp_dt_iov_t* pieces, std::size_t count, std::uint64_t tag);
  /// True if the request is complete; it is gone then, and set to null.
  bool test(void*& request);
  /// Ends a request, complete or not; its memory is free afterwards.
  void cancel(void*& request) noexcept;

  /// Works off what has happened; true if anything has. Throws if the connection is broken.
  bool progress();
  /// True if nothing has happened since progress(): the next event will make event_fd() readable.
  bool arm();
  int event_fd() const { return event_fd_; }

 private:
  static void broke(void* rail, ucp_ep_h endpoint, ucs_status_t status);

  std::string name_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  int event_fd_ = -1;
  ucs_status_t broken_ = UCS_OK;
};

}  // namespace dsea::detail
