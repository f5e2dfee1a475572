// The pair laws that ljmd knows. A new one is one more header and its name in this list.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/md/pair/lennard_jones.hpp"
#include "kernels/md/pair/morse.hpp"
#include "kernels/md/pair/wca.hpp"

namespace dsea::md {

/// X(Law) for every law, in this order.
#define DSEA_PAIR_LAWS(X) X(LennardJones) X(Wca) X(Morse)

/// A law chosen at run time: its place in the list.
struct LawIndex {
  int index = 0;
};

/// Calls f(Law{}) for the law.
template <class F>
void with_law(LawIndex law, const F& f) {
  int i = 0;
#define DSEA_CALL_LAW(Law) \
  if (i++ == law.index) return f(Law{});
  DSEA_PAIR_LAWS(DSEA_CALL_LAW)
#undef DSEA_CALL_LAW
}

/// Their names, which are the sections of the configuration.
inline std::vector<std::string> law_names() {
#define DSEA_LAW_NAME(Law) Law::name,
  return {DSEA_PAIR_LAWS(DSEA_LAW_NAME)};
#undef DSEA_LAW_NAME
}

}  // namespace dsea::md
