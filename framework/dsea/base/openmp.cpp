#include "dsea/base/openmp.hpp"

#include <unistd.h>

#include <cstdlib>

namespace dsea {

void restart_with_short_spin([[maybe_unused]] char** argv) {
#if defined(DSEA_HAVE_OPENMP) && defined(_OPENMP)
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "2000", 1);  // pause instructions; also the mark that this has been done
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = '\0';
  execv(path, argv);  // by its path: the process is named after it
#endif
}

}  // namespace dsea
