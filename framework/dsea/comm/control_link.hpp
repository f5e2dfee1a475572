// A small connection between two processes that carries no data: beats, news of failures, goodbyes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsea/comm/traffic.hpp"

namespace dsea {

/// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct ControlMessage {
  enum class Kind : std::uint32_t { beat = 1, failure, goodbye };
  Kind kind = Kind::beat;
  std::array<Activity, connections> activity{};  ///< with a beat: of the ports that receive from the previous rank
  std::string text;  ///< with a failure: what has failed; cut after ControlLink::longest_text
};

/// One end of a connected, non-blocking stream socket. Both machines have the same byte order. Nothing here blocks or
/// throws: a connection that breaks is closed. Not thread safe.
class ControlLink {
 public:
  static constexpr std::size_t longest_text = 4096;

  ControlLink() = default;
  explicit ControlLink(FileDescriptor socket);

  int fd() const { return socket_.get(); }  ///< -1 once closed
  bool open() const { return static_cast<bool>(socket_); }
  void close() { socket_ = FileDescriptor(); }

  /// Queues a message and writes what the system takes. A beat is left out while others still wait: beats are news only
  /// while they are new.
  void send(const ControlMessage& message);
  /// Writes what the system takes.
  void flush();
  bool waiting() const { return open() && !out_.empty(); }

  /// The next message that is here, reading from the socket as needed. Closes the link when the other side has, after
  /// its last message, and when what comes is no message.
  std::optional<ControlMessage> receive();

 private:
  bool read_more();
  std::optional<ControlMessage> take();

  FileDescriptor socket_;
  std::string in_, out_;
  bool at_end_ = false;
};

}  // namespace dsea
