// A step that all ranks take, or none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dsea/base/error.hpp"
#include "dsea/base/packed_texts.hpp"

namespace dsea {

/// Takes the step, then exchanges how it went: exchange(bytes) gives all ranks' bytes, by rank, on every rank. What
/// failed on some ranks is thrown by all, and the same, so that none waits for one that has given up: a UsageError
/// before RunErrors, which may follow from it, and that of the lowest rank first.
template <class Exchange, class Step>
void step_of_all(const Exchange& exchange, const Step& step) {
  std::vector<std::string> mine(2);  // of usage, and of running
  try {
    step();
  } catch (const UsageError& e) {
    mine[0] = e.what();
  } catch (const Error& e) {
    mine[1] = e.what();
  }
  std::string failure;
  for (const auto& bytes : exchange(pack_texts(mine))) {
    const std::vector<std::string> texts = unpack_texts(bytes);
    if (texts.size() != mine.size()) continue;
    if (!texts[0].empty()) throw UsageError(texts[0]);
    if (failure.empty()) failure = texts[1];
  }
  if (!failure.empty()) throw RunError(failure);
}

}  // namespace dsea
