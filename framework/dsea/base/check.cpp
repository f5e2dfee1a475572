#include "dsea/base/check.hpp"

#include <string_view>

#include "dsea/base/error.hpp"

namespace dsea::detail {

void check_failed(const char* file, int line, const char* condition, const std::string& operands,
                  const std::string& what) {
  std::string_view name = file;
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  std::string message = cat(name, ":", line, ": check failed: ", condition);
  if (!operands.empty()) message += cat(" (", operands, ")");
  if (!what.empty()) message += cat(": ", what);
  throw RunError(message);
}

}  // namespace dsea::detail
