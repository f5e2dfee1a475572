#include "dsea/comm/ucx_trial.hpp"

#include <exception>

#include "dsea/comm/ucx_rail.hpp"

namespace dsea {

std::string try_ucx(const std::vector<std::string>& rails) {
  try {
    if (rails.empty()) const detail::UcxRail rail("", "on this node");
    for (const std::string& device : rails) const detail::UcxRail rail(device, "rail " + device);
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

}  // namespace dsea
