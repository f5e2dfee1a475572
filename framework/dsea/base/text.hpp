// Text helpers for messages. Thread safe; no locale.
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace dsea {

/// All arguments written one after the other, as by operator<<: cat("slice ", 3, " of ", n).
template <class... Args>
std::string cat(const Args&... args) {
  std::ostringstream out;
  out.precision(17);
  ((out << args), ...);
  return out.str();
}

/// All elements, or what `of` makes of them, one after the other, with `separator` between two: joined(names, ", "),
/// joined(cards, ", ", &Card::name).
template <class Range, class Projection = std::identity>
std::string joined(const Range& range, std::string_view separator, const Projection& of = {}) {
  std::string text;
  bool first = true;
  for (const auto& element : range) {
    if (!std::exchange(first, false)) text += separator;
    text += cat(std::invoke(of, element));
  }
  return text;
}

/// 1536 -> "1.5 KiB": bytes for people, three significant digits.
std::string bytes_text(double bytes);

/// 2.5e6 -> "2.50 M": a count or rate for people.
std::string si_text(double value);

/// Seconds for people: "12.3 ms", "4.56 s", "1 h 02 min".
std::string seconds_text(double seconds);

}  // namespace dsea
