// Files that appear under their names only when they are whole.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace dsea::lammps {

/// Collects text, or raw bytes, in "<path>.part", which becomes `path` by close(); without close() it is removed. Used
/// by one thread at a time. Errors are RunErrors that name the file.
class PartFile {
 public:
  /// `what`: the file's name in errors, such as "dump".
  PartFile(std::string what, std::string path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void text(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= buffer_bytes) flush();
  }

  /// A number with as many digits as it takes to read back the same bits.
  template <class T>
  void number(T value) {
    char digits[number_bytes];
    buffer_.append(digits, std::to_chars(digits, digits + number_bytes, value).ptr);
  }

  /// Numbers or texts, one after the other.
  template <class... Parts>
  void write(const Parts&... parts) {
    (one(parts), ...);
  }

  /// Writes what is left and renames the file.
  void close();

  /// Appends all that has been written here to another file. Nothing may be written here afterwards.
  void append_to(PartFile& other);

  [[noreturn]] void fail(std::string_view what) const;

 private:
  static constexpr std::size_t buffer_bytes = 1 << 20;
  static constexpr std::size_t number_bytes = 32;  // of any 64-bit number in its shortest form

  template <class Part>
  void one(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part>)
      number(part);
    else
      text(part);
  }
  void flush();

  std::string what_;
  std::string path_;
  std::string part_;
  std::FILE* file_ = nullptr;
  std::string buffer_;
};

}  // namespace dsea::lammps
