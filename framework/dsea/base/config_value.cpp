#include "dsea/base/config_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "dsea/base/text.hpp"

namespace dsea::detail {

namespace {

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

/// Whether text is an integer too long for 64 bits, if it could not be read as one.
bool is_long_integer(std::string_view text) {
  constexpr std::size_t digits_that_fit = 18;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text.size() > digits_that_fit && text.find_first_not_of("0123456789_") == std::string_view::npos;
}

std::string double_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;  // shortest exact form
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string string_text(std::string_view value) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string text = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += "\\u00";
      text += hex[byte >> 4];
      text += hex[byte & 15];
    } else {
      text += c;
    }
  }
  return text + '"';
}

}  // namespace

std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

bool is_config_key(std::string_view key) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  bool part_is_empty = true;
  for (const char c : key) {
    if (c == '.' ? part_is_empty : !is_letter(c)) return false;
    part_is_empty = c == '.';
  }
  return !part_is_empty;
}

std::string ConfigValue::text() const {
  if (const auto* other = std::get_if<Other>(&value)) return other->kind;
  // Only in a --set: of a file the parser refuses it.
  if (std::holds_alternative<std::string>(value) && is_long_integer(raw)) {
    return cat("the number ", raw, ", which does not fit in 64 bits");
  }
  if (std::holds_alternative<List>(value)) return cat("the list ", toml_text(*this));
  constexpr std::array<std::string_view, 5> kinds = {"", "the boolean ", "the integer ", "the number ", "the string "};
  return cat(kinds[value.index()], toml_text(*this));
}

template <class T>
std::string_view type_name() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::int64_t>) return "an integer";
  if constexpr (std::is_same_v<T, double>) return "a number";
  if constexpr (std::is_same_v<T, std::string>) return "a string in quotes";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "a list of numbers";
  if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) return "a list of integers";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "a list of strings";
}

template <class T>
bool convert(const ConfigValue& from, T& out, bool& too_large) {
  if constexpr (is_list<T>) {
    const auto* list = std::get_if<ConfigValue::List>(&from.value);
    out.clear();
    if constexpr (std::is_arithmetic_v<typename T::value_type>) {
      typename T::value_type one{};
      if (list == nullptr && convert(from, one, too_large)) {  // a number is a list of one
        out.push_back(one);
        return true;
      }
    }
    if (list == nullptr) return false;
    return std::all_of(list->begin(), list->end(), [&](const ConfigValue& item) {
      typename T::value_type value{};
      const bool fits = convert(item, value, too_large);
      out.push_back(std::move(value));
      return fits;
    });
  } else if constexpr (std::is_same_v<T, int>) {
    const auto* value = std::get_if<std::int64_t>(&from.value);
    if (value == nullptr) return false;
    too_large = *value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max();
    if (!too_large) out = static_cast<int>(*value);
    return true;
  } else {
    if constexpr (std::is_same_v<T, double>) {
      if (const auto* integer = std::get_if<std::int64_t>(&from.value)) {
        out = static_cast<double>(*integer);
        return true;
      }
    }
    if constexpr (std::is_same_v<T, std::string>) {
      if (!from.raw.empty()) {
        out = from.raw;
        return true;
      }
    }
    const auto* value = std::get_if<T>(&from.value);
    if (value != nullptr) out = *value;
    return value != nullptr;
  }
}

template <class T>
std::string toml_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::int64_t>) return std::to_string(value);
  if constexpr (std::is_same_v<T, double>) return double_text(value);
  if constexpr (std::is_same_v<T, std::string>) return string_text(value);
  if constexpr (is_list<T>) {
    return cat("[", joined(value, ", ", [](const auto& item) { return toml_text(item); }), "]");
  }
}

std::string toml_text(const ConfigValue& value) {
  return std::visit(
      [](const auto& content) -> std::string {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, ConfigValue::Other>) {
          return content.kind;
        } else {
          return toml_text(content);
        }
      },
      value.value);
}

#define DSEA_CONFIG_TYPE(...)                                                  \
  template std::string_view type_name<__VA_ARGS__>();                          \
  template bool convert<__VA_ARGS__>(const ConfigValue&, __VA_ARGS__&, bool&); \
  template std::string toml_text<__VA_ARGS__>(const __VA_ARGS__&);
DSEA_CONFIG_TYPE(bool)
DSEA_CONFIG_TYPE(int)
DSEA_CONFIG_TYPE(std::int64_t)
DSEA_CONFIG_TYPE(double)
DSEA_CONFIG_TYPE(std::string)
DSEA_CONFIG_TYPE(std::vector<double>)
DSEA_CONFIG_TYPE(std::vector<std::int64_t>)
DSEA_CONFIG_TYPE(std::vector<std::string>)
#undef DSEA_CONFIG_TYPE

}  // namespace dsea::detail
