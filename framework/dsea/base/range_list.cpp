#include "dsea/base/range_list.hpp"

#include <charconv>

#include "dsea/base/text.hpp"

namespace dsea {

std::string range_list_text(std::span<const int> numbers) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < numbers.size(); first = end) {
    for (end = first + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    text += cat(text.empty() ? "" : ",", numbers[first]);
    if (end - first > 1) text += cat("-", numbers[end - 1]);
  }
  return text.empty() ? "-" : text;
}

std::vector<int> parse_range_list(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    int first = 0;
    const char* const range_end = range.data() + range.size();
    const auto [after, error] = std::from_chars(range.data(), range_end, first);
    if (error != std::errc()) continue;
    int last = first;
    if (after != range_end && *after == '-' && std::from_chars(after + 1, range_end, last).ec != std::errc()) continue;
    for (int n = first; n <= last; ++n) numbers.push_back(n);
  }
  return numbers;
}

}  // namespace dsea
