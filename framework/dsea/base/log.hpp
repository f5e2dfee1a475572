// Log lines of one rank: "[rank 3] warning: link to rank 4 is slow".
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "dsea/base/text.hpp"

namespace dsea {

/// From the gravest to the finest; a log writes its own level and all graver ones.
enum class LogLevel { error, warning, info, debug };

/// "warning", ...
std::string_view level_name(LogLevel level);

/// A log is handed to whoever writes to it; there is no global one. Copies write to the same place. Every line is
/// written as a whole, in one go, whatever other threads and other logs write; all members may be called from any
/// thread. Texts are lower case and have no full stop; arguments are put together as by cat().
class Log {
 public:
  /// Writes warnings and errors to stderr.
  Log() : Log(LogLevel::warning) {}
  /// Writes to stderr; lines name the rank if there is more than one.
  explicit Log(LogLevel level, int rank = 0, int ranks = 1);
  /// Writes to `out`, which must outlive this log and its copies and be written to by nobody else.
  Log(LogLevel level, std::ostream& out, int rank = 0, int ranks = 1);

  /// The log of another rank with the same level, written to the same place.
  Log for_rank(int rank, int ranks) const;

  LogLevel level() const { return level_; }
  bool writes(LogLevel level) const { return level <= level_; }

  template <class... Args>
  void error(const Args&... args) const {
    write(LogLevel::error, args...);
  }
  template <class... Args>
  void warning(const Args&... args) const {
    write(LogLevel::warning, args...);
  }
  template <class... Args>
  void info(const Args&... args) const {
    write(LogLevel::info, args...);
  }
  template <class... Args>
  void debug(const Args&... args) const {
    write(LogLevel::debug, args...);
  }

  /// "error", "warning", "info" or "debug"; throws UsageError for anything else.
  static LogLevel level_from_text(std::string_view text);

 private:
  struct Sink;

  template <class... Args>
  void write(LogLevel level, const Args&... args) const {
    if (writes(level)) write_text(level, cat(args...));
  }
  void write_text(LogLevel level, std::string_view text) const;

  LogLevel level_;
  std::string prefix_;
  std::shared_ptr<Sink> sink_;
};

}  // namespace dsea
