#include "dsea/base/text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace dsea {

namespace {

// By to_chars, not printf: no locale may change the point into a comma.
std::string fixed(double value, int decimals) {
  std::array<char, 64> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  return {buffer.data(), result.ptr};
}

/// Three significant digits of a value from 0.1 to 1023: "1.50", "12.3", "512".
std::string three_digits(double value) { return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0); }

std::string strip_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string two_digits(long long value) { return cat(value < 10 ? "0" : "", value); }

}  // namespace

std::string bytes_text(double bytes) {
  if (!std::isfinite(bytes)) return cat(bytes, " B");
  if (bytes < 0) return "-" + bytes_text(-bytes);
  constexpr std::array<std::string_view, 7> units = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  std::size_t unit = 0;
  // What would be rounded up to 1024 goes to the next unit.
  for (; bytes >= 1023.5 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  if (bytes >= 1023.5) return cat(std::round(bytes), units[unit]);
  return cat(strip_zeros(three_digits(bytes)), units[unit]);
}

std::string si_text(double value) {
  if (!std::isfinite(value)) return cat(value);
  if (value < 0) return "-" + si_text(-value);
  constexpr std::array<std::string_view, 7> units = {"", " k", " M", " G", " T", " P", " E"};
  if (value < 999.5 && value == std::floor(value)) return fixed(value, 0);
  if (value < 0.0995) {
    std::array<char, 32> buffer;
    return {buffer.data(),
            std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, 2).ptr};
  }
  if (value < 0.9995) return fixed(value, 3);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  if (value >= 999.5) return cat(std::round(value), units[unit]);
  return cat(three_digits(value), units[unit]);
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return cat(seconds, " s");
  if (seconds < 0) return "-" + seconds_text(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-6) return strip_zeros(three_digits(seconds * 1e9)) + " ns";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  if (seconds > 1e15) return cat(seconds, " s");
  const long long whole = std::llround(seconds);
  if (whole < 3600) return cat(whole / 60, " min ", two_digits(whole % 60), " s");
  const long long minutes = std::llround(seconds / 60);
  if (minutes < 1440) return cat(minutes / 60, " h ", two_digits(minutes % 60), " min");
  const long long hours = std::llround(seconds / 3600);
  return cat(hours / 24, " d ", two_digits(hours % 24), " h");
}

}  // namespace dsea
