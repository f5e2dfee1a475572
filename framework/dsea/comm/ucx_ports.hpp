// Ports whose transfers are striped over rails. For ucx_*.cpp only.
#pragma once

#include <memory>

#include "dsea/comm/ucx_port.hpp"

namespace dsea::detail {

/// A port, and the same object as what both directions share.
template <class Port>
struct UcxPortOf {
  std::unique_ptr<Port> port;
  UcxPort* shared = nullptr;
};

/// The rails are connected.
UcxPortOf<SendPort> make_ucx_send_port(UcxRails rails, UcxPortOptions options);
UcxPortOf<ReceivePort> make_ucx_receive_port(UcxRails rails, UcxPortOptions options);

}  // namespace dsea::detail
