#include "kernels/lammps_io/line_reader.hpp"

#include <charconv>
#include <cmath>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::lammps {

namespace {

constexpr std::string_view blanks = " \t\r\f\v";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <class T>
bool parse(std::string_view word, T& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

bool LineReader::next() {
  if (rest_.empty()) return false;
  const auto end = rest_.find('\n');
  std::string_view text = rest_.substr(0, end);
  ended_ = end != std::string_view::npos;
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  ++line_;
  comment_ = {};
  if (const auto hash = text.find('#'); hash != std::string_view::npos) {
    comment_ = trimmed(text.substr(hash + 1));
    text = text.substr(0, hash);
  }
  content_ = trimmed(text);
  words_.clear();
  for (std::string_view left = content_; !left.empty();) {
    const auto stop = left.find_first_of(blanks);
    words_.push_back(left.substr(0, stop));
    left = stop == std::string_view::npos ? std::string_view{} : trimmed(left.substr(stop));
  }
  return true;
}

bool LineReader::next_filled() {
  while (next()) {
    if (!words_.empty()) return true;
  }
  return false;
}

std::string LineReader::place(std::int64_t line) const { return cat(name_, ":", line); }

std::string LineReader::place() const { return place(line_); }

void LineReader::fail_at(std::int64_t line, const std::string& message) const {
  throw UsageError(cat(place(line), ": ", message));
}

double LineReader::real(std::string_view word, std::string_view what) const {
  double value = 0;
  if (!parse(word, value)) fail(cat(what, " is '", word, "', which is not a number"));
  if (!std::isfinite(value)) fail(cat(what, " is '", word, "', which is not a finite number"));
  return value;
}

std::int64_t LineReader::integer(std::string_view word, std::string_view what) const {
  std::int64_t value = 0;
  if (!parse(word, value)) fail(cat(what, " is '", word, "', which is not a whole number"));
  return value;
}

}  // namespace dsea::lammps
