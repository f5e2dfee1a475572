// The names of functions of this program.
#pragma once

#include <string>

namespace shim {

/// The source's name of the function that begins here, without its parameters; the address in digits where the
/// program's table of symbols does not tell (a stripped program, a shared library). Slow the first time. Thread safe.
std::string kernel_name(const void* function);

}  // namespace shim
