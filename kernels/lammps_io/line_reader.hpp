// Lines of a text file, cut into words, for readers that name file and line in their errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dsea::lammps {

/// Goes through text line by line. The text must outlive it.
class LineReader {
 public:
  LineReader(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  /// Takes the next line, whatever it holds; false at the end.
  bool next();
  /// Takes the next line that is not blank without its comment; false at the end.
  bool next_filled();

  const std::vector<std::string_view>& words() const { return words_; }  ///< without the comment
  std::string_view content() const { return content_; }                  ///< without comment and outer blanks
  std::string_view comment() const { return comment_; }                  ///< behind '#', without outer blanks
  std::int64_t line() const { return line_; }                            ///< from 1
  std::string place() const;                                             ///< "name:line"

  /// Whether the current line holds words, but is the last one and lacks its end of line.
  bool unfinished() const { return !words_.empty() && !ended_; }

  /// Throws UsageError "name:line: message".
  [[noreturn]] void fail(const std::string& message) const { fail_at(line_, message); }
  [[noreturn]] void fail_at(std::int64_t line, const std::string& message) const;

  /// A word as a number; `what` names it in the error. Numbers are finite.
  double real(std::string_view word, std::string_view what) const;
  std::int64_t integer(std::string_view word, std::string_view what) const;

 private:
  std::string place(std::int64_t line) const;

  std::string_view rest_;
  std::string name_;
  std::string_view content_;
  std::string_view comment_;
  std::vector<std::string_view> words_;
  std::int64_t line_ = 0;
  bool ended_ = true;
};

}  // namespace dsea::lammps
