#include "cuda_shim/order.hpp"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace shim {

Order::Order(const std::string& text) {
  const std::string prefix = "random:";
  if (text == "forward") return;
  if (text == "reverse") {
    kind_ = Kind::reverse;
    return;
  }
  const std::string seed = text.starts_with(prefix) ? text.substr(prefix.size()) : "";
  if (seed.empty() || seed.size() > 18 || seed.find_first_not_of("0123456789") != std::string::npos) {
    throw std::invalid_argument("unknown order '" + text + "': use forward, reverse or random:SEED");
  }
  kind_ = Kind::random;
  state_ = std::stoull(seed);
}

Order Order::from_environment() {
  const char* const text = std::getenv("DSEA_SHIM_ORDER");
  if (text == nullptr || *text == '\0') return {};
  try {
    return Order(text);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "CUDA shim: DSEA_SHIM_ORDER: %s\n", error.what());
    std::exit(2);
  }
}

// Counts in steps of the golden ratio and mixes the bits (Steele, Lea and Flood's SplitMix64).
std::uint64_t Order::random() {
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

Permutation Order::permutation(std::uint64_t n) {
  if (kind_ == Kind::forward || n == 1) return {n, 0, n == 1 ? 0U : 1U};
  if (kind_ == Kind::reverse) return {n, n - 1, n - 1};
  std::uint64_t stride = 0;
  do {
    stride = 1 + random() % (n - 1);
  } while (std::gcd(stride, n) != 1);
  return {n, random() % n, stride};
}

int Order::patience() {
  if (kind_ == Kind::random) return 1 + static_cast<int>(random() % 5);
  return kind_ == Kind::reverse ? 4 : 1;
}

}  // namespace shim
