// Instruction sets of the host that for_each_row is compiled for.
#pragma once

#include <optional>
#include <string_view>

namespace dsea {

/// In order of capability. Results do not depend on it: no fused multiply-add is used in any of them.
enum class Isa {
  baseline,  ///< what the program was compiled for (x86-64: SSE2)
  avx2,      ///< 4 doubles at a time
  avx512,    ///< 8 doubles at a time: F, DQ, VL and BW
};

/// The most capable one of this machine.
Isa best_isa();

/// "baseline", "avx2", "avx512"
const char* isa_name(Isa isa);

/// The reverse of isa_name; nothing for any other text.
std::optional<Isa> isa_from_name(std::string_view name);

}  // namespace dsea
