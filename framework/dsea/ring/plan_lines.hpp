// How the text of a RingPlan is set: private to its sources.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "dsea/base/text.hpp"

namespace dsea::plan_lines {

/// One line: a heading in a column of its own, then text.
inline std::string line(const std::string& heading, const std::string& text) {
  return heading + std::string(heading.size() < 12 ? 12 - heading.size() : 1, ' ') + text + "\n";
}

inline std::string right(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

inline std::string left(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

inline std::string plural(std::int64_t n, const std::string& one) { return cat(n, " ", one, n == 1 ? "" : "s"); }

/// 12.345 -> "12.3".
inline std::string tenths(double value) {
  const auto scaled = std::llround(value * 10);
  return cat(scaled / 10, ".", scaled % 10);
}

}  // namespace dsea::plan_lines
