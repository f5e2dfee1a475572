#include "dsea/device/launch.hpp"

namespace dsea {

void check_team(int team_size, std::size_t scratch_bytes) {
  if (team_size < 1 || team_size > max_team_size) {
    throw RunError(cat("a team has 1 to ", max_team_size, " lanes, not ", team_size));
  }
  if (scratch_bytes > max_team_scratch_bytes) {
    throw RunError(cat("a team has at most ", max_team_scratch_bytes, " bytes of scratch, not ", scratch_bytes));
  }
}

}  // namespace dsea
