// Ports whose transfers are striped over rails. For ucx_*.cpp only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsea/comm/transport.hpp"
#include "dsea/comm/ucx_rail.hpp"

namespace dsea::detail {

using UcxRails = std::vector<std::unique_ptr<UcxRail>>;

/// The rails of a sender are connected.
std::unique_ptr<SendPort> make_ucx_send_port(UcxRails rails, std::string name, std::size_t chunk_bytes);
std::unique_ptr<ReceivePort> make_ucx_receive_port(UcxRails rails, std::string name, std::size_t chunk_bytes);

}  // namespace dsea::detail
