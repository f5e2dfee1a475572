// Where the tests run that do not care where they run.
#pragma once

#include <cstdlib>
#include <string>

namespace support {

/// The environment variable DSEA_TEST_BACKEND, "host" without it. Tests of rings run on "cuda" as well, in builds whose
/// CUDA runtime is the shim on the CPU.
inline std::string backend() {
  const char* const wanted = std::getenv("DSEA_TEST_BACKEND");
  return wanted == nullptr ? "host" : wanted;
}

}  // namespace support
