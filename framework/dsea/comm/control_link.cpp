#include "dsea/comm/control_link.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace dsea {
namespace {

/// What goes ahead of the text.
struct ControlHead {
  static constexpr std::uint32_t magic_value = 0x44734a62;
  std::uint32_t magic = magic_value;
  std::uint32_t kind = 0;
  std::uint64_t text_bytes = 0;
  std::array<Activity, connections> activity{};
};

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

ControlLink::ControlLink(FileDescriptor socket) : socket_(std::move(socket)) {
  in_.reserve(4 * longest_text);
  out_.reserve(4 * longest_text);
}

void ControlLink::send(const ControlMessage& message) {
  if (!open() || (message.kind == ControlMessage::Kind::beat && !out_.empty())) return;
  ControlHead head;
  head.kind = static_cast<std::uint32_t>(message.kind);
  head.text_bytes = std::min(message.text.size(), longest_text);
  head.activity = message.activity;
  out_.append(reinterpret_cast<const char*>(&head), sizeof head);
  out_.append(message.text, 0, static_cast<std::size_t>(head.text_bytes));
  flush();
}

void ControlLink::flush() {
  while (waiting()) {
    const ssize_t written = ::send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (written > 0) {
      out_.erase(0, static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno != EINTR) {
      out_.clear();  // the other side is gone; what it has said may still be read
      return;
    }
  }
}

bool ControlLink::read_more() {
  std::array<char, 4096> bytes;
  while (open() && !at_end_) {
    const ssize_t got = ::recv(fd(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      in_.append(bytes.data(), static_cast<std::size_t>(got));
      return true;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    at_end_ = true;
  }
  return false;
}

std::optional<ControlMessage> ControlLink::take() {
  ControlHead head;
  if (in_.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, in_.data(), sizeof head);
  if (head.magic != ControlHead::magic_value || head.text_bytes > longest_text) {
    close();
    return std::nullopt;
  }
  const std::size_t text_bytes = static_cast<std::size_t>(head.text_bytes);
  if (in_.size() < sizeof head + text_bytes) return std::nullopt;
  ControlMessage message;
  message.kind = static_cast<ControlMessage::Kind>(head.kind);
  message.activity = head.activity;
  message.text.assign(in_, sizeof head, text_bytes);
  in_.erase(0, sizeof head + text_bytes);
  return message;
}

std::optional<ControlMessage> ControlLink::receive() {
  while (open()) {
    if (auto message = take()) return message;
    if (!open()) break;
    if (!read_more()) {
      if (at_end_) close();
      break;
    }
  }
  return std::nullopt;
}

}  // namespace dsea
