#include "dsea/device/isa.hpp"

namespace dsea {

Isa best_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // Exactly the extensions that for_each_row.hpp names; the builtin also asks whether the system saves the registers.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return Isa::avx512;
  }
  if (__builtin_cpu_supports("avx2")) return Isa::avx2;
#endif
  return Isa::baseline;
}

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return "baseline";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "unknown";
}

std::optional<Isa> isa_from_name(std::string_view name) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (name == isa_name(isa)) return isa;
  }
  return std::nullopt;
}

}  // namespace dsea
