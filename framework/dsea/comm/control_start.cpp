#include "dsea/comm/control_start.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {
namespace {

/// Both sides say it: the one that connects, then, if that is right, the other. Then the first one says it again, so
/// that the other does not take a connection that has been given up.
struct Hello {
  std::uint64_t magic = 0x64736561'68656c6f;
  std::uint64_t cookie = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  bool operator==(const Hello&) const = default;
};

bool say(int fd, const Hello& hello) {
  return ::send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == ssize_t{sizeof hello};  // a new socket takes so little
}

enum class Heard { nothing_yet, hello, other };

/// Reads as far as `wanted` hellos at most, so that what follows stays in the socket.
Heard listen_for(int fd, std::string& in, std::size_t wanted, const Hello& right) {
  std::array<char, 2 * sizeof(Hello)> bytes;
  const std::size_t missing = wanted * sizeof(Hello) - in.size();
  const ssize_t got = ::recv(fd, bytes.data(), missing, 0);
  if (got == 0) return Heard::other;
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? Heard::nothing_yet : Heard::other;
  in.append(bytes.data(), static_cast<std::size_t>(got));
  if (in.size() < wanted * sizeof(Hello)) return Heard::nothing_yet;
  Hello hello;
  std::memcpy(&hello, in.data() + (wanted - 1) * sizeof hello, sizeof hello);
  return hello == right ? Heard::hello : Heard::other;
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Waits for connections from the previous rank.
class Door {
 public:
  Door(const ControlListener& listener, const Hello& expected, const Hello& answer)
      : listener_(listener), expected_(expected), answer_(answer) {}

  void add(std::vector<pollfd>& fds) const {
    fds.push_back({listener_.socket.get(), POLLIN, 0});
    for (const Guest& guest : guests_) fds.push_back({guest.socket.get(), POLLIN, 0});
  }

  /// The connection, once its other end has said all it should.
  std::optional<FileDescriptor> look(Clock::time_point now) {
    constexpr std::size_t most = 64;
    for (;;) {
      FileDescriptor socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) break;
      if (guests_.size() == most) guests_.erase(guests_.begin());
      guests_.push_back({std::move(socket), now + std::chrono::seconds(10), {}, 1});
    }
    for (auto guest = guests_.begin(); guest != guests_.end();) {
      const Heard heard = listen_for(guest->socket.get(), guest->in, guest->hellos, expected_);
      const bool right = heard == Heard::hello;
      if (right && guest->hellos == 2) return std::move(guest->socket);
      if (right && say(guest->socket.get(), answer_)) {
        guest->hellos = 2;
        ++guest;
      } else if (heard != Heard::nothing_yet || now > guest->until) {
        guest = guests_.erase(guest);
      } else {
        ++guest;
      }
    }
    return std::nullopt;
  }

 private:
  struct Guest {
    FileDescriptor socket;
    Clock::time_point until;
    std::string in;
    std::size_t hellos;  // to be heard
  };

  const ControlListener& listener_;
  Hello expected_, answer_;
  std::vector<Guest> guests_;
};

/// Tries one address after the other.
class Caller {
 public:
  Caller(std::vector<DeviceAddress> addresses, std::uint16_t port, const Hello& hello, const Hello& expected)
      : addresses_(std::move(addresses)), port_(port), hello_(hello), expected_(expected) {}

  void add(std::vector<pollfd>& fds) const {
    if (socket_) fds.push_back({socket_.get(), static_cast<short>(said_ ? POLLIN : POLLOUT), 0});
  }

  std::optional<FileDescriptor> look(Clock::time_point now) {
    if (addresses_.empty()) return std::nullopt;
    if (socket_ && now > until_) socket_ = FileDescriptor();
    if (!socket_ && now >= next_try_) try_next(now);
    if (!socket_) return std::nullopt;
    pollfd state{socket_.get(), POLLOUT, 0};
    if (!said_ && ::poll(&state, 1, 0) == 1) {
      int error = 0;
      socklen_t length = sizeof error;
      ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
      said_ = error == 0 && say(socket_.get(), hello_);
      if (!said_) socket_ = FileDescriptor();
    }
    if (!said_) return std::nullopt;
    const Heard heard = listen_for(socket_.get(), in_, 1, expected_);
    if (heard == Heard::hello && say(socket_.get(), hello_)) return std::move(socket_);
    if (heard != Heard::nothing_yet) socket_ = FileDescriptor();
    return std::nullopt;
  }

 private:
  void try_next(Clock::time_point now) {
    const DeviceAddress& to = addresses_[tries_ % addresses_.size()];
    // The first round is a quick one; not a busy one where all addresses refuse at once.
    until_ = now + std::chrono::seconds(tries_ < addresses_.size() ? 2 : 6);
    next_try_ = now + std::chrono::milliseconds(tries_ < addresses_.size() ? 0 : 100);
    ++tries_;
    said_ = false;
    in_.clear();
    sockaddr_storage address{};
    socklen_t length = 0;
    auto* const v4 = reinterpret_cast<sockaddr_in*>(&address);
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address);
    if (inet_pton(AF_INET, to.address.c_str(), &v4->sin_addr) == 1) {
      v4->sin_family = AF_INET;
      v4->sin_port = htons(port_);
      length = sizeof *v4;
    } else if (inet_pton(AF_INET6, to.address.c_str(), &v6->sin6_addr) == 1) {
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(port_);
      length = sizeof *v6;
    } else {
      return;
    }
    socket_ = FileDescriptor(::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) return;
    no_delay(socket_.get());
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 && errno != EINPROGRESS) {
      socket_ = FileDescriptor();
    }
  }

  std::vector<DeviceAddress> addresses_;
  std::uint16_t port_;
  Hello hello_, expected_;
  FileDescriptor socket_;
  Clock::time_point until_{}, next_try_{};
  std::size_t tries_ = 0;
  bool said_ = false;
  std::string in_;
};

/// The addresses to try; a loopback one means another machine to others.
std::vector<DeviceAddress> addresses_from(const ControlCard& mine, const ControlCard& other) {
  std::vector<DeviceAddress> addresses = other.addresses;
  if (mine.host == other.host) {
    std::ranges::stable_partition(addresses, &DeviceAddress::loopback);
  } else {
    std::erase_if(addresses, &DeviceAddress::loopback);
  }
  return addresses;
}

std::string list_of(const std::vector<DeviceAddress>& addresses, std::uint16_t port) {
  if (addresses.empty()) return "no address to try";
  const auto text_of = [](const DeviceAddress& a) { return cat(a.address, " (", a.device, ")"); };
  return cat("tried ", joined(addresses, ", ", text_of), ", port ", port);
}

}  // namespace

std::vector<std::byte> ControlCard::packed() const {
  std::string text = cat(host, "\n", cookie, "\n", port, "\n", error, "\n");
  for (const DeviceAddress& a : addresses) text += cat(a.device, " ", a.address, " ", a.loopback ? 1 : 0, "\n");
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

ControlCard ControlCard::unpacked(const std::vector<std::byte>& bytes) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ControlCard card;
  std::getline(text, card.host);
  text >> card.cookie >> card.port;
  text.ignore();  // the end of the line
  std::getline(text, card.error);
  for (DeviceAddress a; text >> a.device >> a.address >> a.loopback;) card.addresses.push_back(a);
  return card;
}

ControlListener::ControlListener() {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;  // IPv4 as well
  constexpr int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  socket = FileDescriptor(::socket(AF_INET6, type, 0));
  const int off = 0;
  bool bound = socket && ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
               ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!bound) {  // a system without IPv6
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    socket = FileDescriptor(::socket(AF_INET, type, 0));
    bound = socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4) == 0;
  }
  socklen_t length = sizeof address;
  if (!bound || ::listen(socket.get(), 64) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw RunError(cat("cannot listen for the heartbeats of other ranks: ", std::strerror(errno)));
  }
  port = ntohs(address.sin6_port);  // at the same place in both kinds
}

ControlLinks connect_control(const ControlListener& listener, int rank, const std::vector<ControlCard>& cards,
                             Clock::time_point deadline) {
  const int ranks = static_cast<int>(cards.size());
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  const auto card = [&](int r) -> const ControlCard& { return cards[static_cast<std::size_t>(r)]; };
  const auto hello = [&](int from, int to) {
    Hello h;
    h.cookie = cards.front().cookie;
    h.from = from;
    h.to = to;
    return h;
  };
  for (int from = 0; from < ranks; ++from) {  // all ranks see it, so that none waits for the others
    const int to = (from + 1) % ranks;
    if (!addresses_from(card(from), card(to)).empty()) continue;
    throw UsageError(cat("heartbeats have no way from rank ", from, " on ", card(from).host, " to rank ", to, " on ",
                         card(to).host, ": no device that ring.control allows has an address there"));
  }
  const std::vector<DeviceAddress> addresses = addresses_from(card(rank), card(next));
  Caller caller(addresses, card(next).port, hello(rank, next), hello(next, rank));
  Door door(listener, hello(previous, rank), hello(rank, previous));

  ControlLinks links;
  std::vector<pollfd> fds;
  while (!links.next.open() || !links.previous.open()) {
    const Clock::time_point now = Clock::now();
    if (!links.next.open()) {
      if (auto socket = caller.look(now)) links.next = ControlLink(std::move(*socket));
    }
    if (!links.previous.open()) {
      if (auto socket = door.look(now)) {
        no_delay(socket->get());
        links.previous = ControlLink(std::move(*socket));
      }
    }
    if (links.next.open() && links.previous.open()) break;
    if (now >= deadline) {
      const std::string hint =
          "heartbeats between processes need a TCP connection, over a device that ring.control can name";
      const auto name = [&](int r) { return cat("rank ", r, " on ", card(r).host); };
      if (!links.next.open()) {
        throw RunError(cat("no control connection from ", name(rank), " to ", name(next), ": ",
                           list_of(addresses, card(next).port), "; ", hint));
      }
      throw RunError(cat("no control connection from ", name(previous), " has reached ", name(rank), ": ",
                         list_of(addresses_from(card(previous), card(rank)), card(rank).port), "; ", hint));
    }
    fds.clear();
    if (!links.next.open()) caller.add(fds);
    if (!links.previous.open()) door.add(fds);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time_left(deadline)).count();
    ::poll(fds.data(), fds.size(), static_cast<int>(std::min<long long>(left, 100)));
  }
  return links;
}

}  // namespace dsea
