#include "dsea/base/openmp.hpp"

#include <unistd.h>

#include <cstdlib>

namespace dsea {

void restart_with_short_spin([[maybe_unused]] char** argv) {
#if defined(DSEA_HAVE_OPENMP) && defined(_OPENMP)
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "20000", 1);  // pause instructions; also the mark that this has been done
  execv("/proc/self/exe", argv);
#endif
}

}  // namespace dsea
