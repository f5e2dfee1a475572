// How the processes of a ring find each other for control: rank p connects to rank p + 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dsea/comm/control_link.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/network_devices.hpp"

namespace dsea {

/// What a rank tells the others of itself.
struct ControlCard {
  std::string host;
  std::uint64_t cookie = 0;  ///< rank 0's is the one that all show each other
  std::uint16_t port = 0;
  std::string error;  ///< why this rank cannot take part
  std::vector<DeviceAddress> addresses;

  std::vector<std::byte> packed() const;
  static ControlCard unpacked(const std::vector<std::byte>& bytes);
};

/// A socket that listens on all addresses of this machine, at a port that the system chooses.
struct ControlListener {
  ControlListener();  ///< throws RunError
  FileDescriptor socket;
  std::uint16_t port = 0;
};

struct ControlLinks {
  ControlLink previous, next;
};

/// This rank's two connections; those who do not know the cookie are sent away. Addresses are tried one after the other
/// until one answers, those of this machine first where both ranks are on the same. Throws RunError at the deadline,
/// and UsageError, on all ranks, if some rank has no address that the one before it could try.
ControlLinks connect_control(const ControlListener& listener, int rank, const std::vector<ControlCard>& cards,
                             Clock::time_point deadline);

}  // namespace dsea
