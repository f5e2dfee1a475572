#include "dsea/base/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <ostream>

#include "dsea/base/error.hpp"

namespace dsea {

namespace {

constexpr std::array<std::string_view, 4> level_names = {"error", "warning", "info", "debug"};

std::string rank_prefix(int rank, int ranks) { return ranks > 1 ? cat("[rank ", rank, "] ") : ""; }

/// One write call for a whole line, so that processes and threads that share stderr do not mix theirs.
void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody listens: there is no better place to complain
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

struct Log::Sink {
  std::mutex mutex;
  std::ostream* out = nullptr;  ///< null: stderr
};

std::string_view level_name(LogLevel level) { return level_names[static_cast<std::size_t>(level)]; }

Log::Log(LogLevel level, int rank, int ranks)
    : level_(level), prefix_(rank_prefix(rank, ranks)), sink_(std::make_shared<Sink>()) {}

Log::Log(LogLevel level, std::ostream& out, int rank, int ranks) : Log(level, rank, ranks) { sink_->out = &out; }

Log Log::for_rank(int rank, int ranks) const {
  Log other = *this;
  other.prefix_ = rank_prefix(rank, ranks);
  return other;
}

LogLevel Log::level_from_text(std::string_view text) {
  const auto found = std::ranges::find(level_names, text);
  if (found == level_names.end()) {
    throw UsageError(cat("unknown log level '", text, "': expected error, warning, info or debug"));
  }
  return static_cast<LogLevel>(found - level_names.begin());
}

void Log::write_text(LogLevel level, std::string_view text) const {
  std::string lines;  // every line of a longer text gets the prefix, so that searching for a rank finds all of them
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.append(prefix_).append(level_name(level)).append(": ").append(text.substr(begin, end - begin)) += '\n';
    begin = end + 1;
  }
  const std::scoped_lock lock(sink_->mutex);
  if (sink_->out == nullptr) {
    write_to_stderr(lines);
  } else {
    *sink_->out << lines << std::flush;
  }
}

}  // namespace dsea
