// Text helpers for messages. Thread safe; no locale.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace dsea {

/// All arguments written one after the other, as by operator<<: cat("slice ", 3, " of ", n).
template <class... Args>
std::string cat(const Args&... args) {
  std::ostringstream out;
  out.precision(17);
  ((out << args), ...);
  return out.str();
}

/// 1536 -> "1.5 KiB": bytes for people, three significant digits.
std::string bytes_text(double bytes);

/// 2.5e6 -> "2.50 M": a count or rate for people.
std::string si_text(double value);

/// Seconds for people: "12.3 ms", "4.56 s", "1 h 02 min".
std::string seconds_text(double seconds);

}  // namespace dsea
