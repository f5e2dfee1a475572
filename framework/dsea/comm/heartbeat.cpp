#include "dsea/comm/heartbeat.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <random>
#include <system_error>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/comm/step_of_all.hpp"

namespace dsea {
namespace {

constexpr std::chrono::seconds grace(3);           // for the program to end by itself
constexpr std::chrono::milliseconds telling(500);  // for news to be written
constexpr std::chrono::seconds parting(2);         // for the neighbours' goodbyes

double in_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

ControlCard own_card(int rank, const ControlListener& listener, const HeartbeatOptions& options) {
  ControlCard card;
  std::array<char, 256> host{};
  card.host = gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0' ? host.data() : "a node without a name";
  card.port = listener.port;
  std::random_device random;
  card.cookie = std::uint64_t{random()} << 32 | random();
  try {
    const std::vector<std::string> data = rail_devices(options.data_devices);
    const std::vector<DeviceAddress> all = device_addresses();
    std::size_t devices = 0;  // apart from the loopback one
    for (std::size_t i = 0; i < all.size(); ++i) {
      devices += !all[i].loopback && (i == 0 || all[i].device != all[i - 1].device) ? 1 : 0;
    }
    const bool ask = options.device == "auto" && data.empty() && devices > 1;
    card.addresses = control_addresses(all, options.device, data, ask ? host_addresses() : std::vector<std::string>{});
  } catch (const Error& error) {
    card.error = cat("rank ", rank, " on ", card.host, ": ", error.what());
  }
  return card;
}

}  // namespace

Heartbeat::Heartbeat(int rank, int ranks, const Exchange& exchange, HeartbeatOptions options)
    : rank_(rank),
      ranks_(ranks),
      options_(std::move(options)),
      next_watch_(options_.link_timeout, Clock::now()),
      previous_watch_(options_.link_timeout, Clock::now()) {
  if (ranks_ == 1) return;
  connect(exchange);
  thread_ = std::jthread([this] {
    block_signals();
    name_this_thread("dsea heartbeat");
    run();
  });
}

void Heartbeat::connect(const Exchange& exchange) {
  const Clock::time_point deadline = deadline_after(options_.start_timeout);
  wake_ = FileDescriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  devices_ = rail_devices(options_.data_devices);
  for (const DeviceAddress& a : device_addresses()) devices_.push_back(a.device);
  const ControlListener listener;
  std::vector<ControlCard> cards;
  for (const auto& bytes : exchange(own_card(rank_, listener, options_).packed(), deadline)) {
    cards.push_back(ControlCard::unpacked(bytes));
    hosts_.push_back(cards.back().host);
    if (!cards.back().error.empty()) throw UsageError(cards.back().error);
  }
  // Nobody begins before all have come.
  step_of_all([&](const std::vector<std::byte>& mine) { return exchange(mine, deadline + std::chrono::seconds(10)); },
              [&] { links_ = connect_control(listener, rank_, cards, deadline); });
}

Heartbeat::~Heartbeat() {
  stopping_ = true;
  wake();
}

void Heartbeat::finish() noexcept {
  if (!thread_.joinable()) return;
  finishing_ = true;
  wake();
  thread_.join();
}

void Heartbeat::wake() const {
  const std::uint64_t one = 1;
  if (wake_) static_cast<void>(::write(wake_.get(), &one, sizeof one) + 0);
}

std::string Heartbeat::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

Clock::time_point Heartbeat::failed_at() const {
  const std::scoped_lock lock(mutex_);
  return failed_at_;
}

std::string Heartbeat::name(int rank) const {
  if (hosts_.empty()) return cat("rank ", rank);
  return cat("rank ", rank, " on ", hosts_.at(static_cast<std::size_t>(rank)));
}

void Heartbeat::note_failure(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    if (failed_) return;
    why_ = why.substr(0, ControlLink::longest_text);
    failed_at_ = Clock::now();
    failed_.store(true, std::memory_order_release);
  }
  if (!options_.last_resort) return;
  try {
    std::thread([until = failed_at() + grace, act = options_.last_resort, why] {
      block_signals();
      std::this_thread::sleep_until(until);
      act(why);
    }).detach();
  } catch (const std::system_error&) {
    options_.last_resort(why);  // no thread can be started any more: at once
  }
}

void Heartbeat::tell_all(const std::string& why) noexcept {
  try {
    note_failure(why);
    wake();
    std::unique_lock lock(mutex_);
    if (thread_.joinable()) told_.wait_for(lock, telling, [this] { return all_told_; });
  } catch (const std::exception&) {
    // Out of memory: the others notice the end of this process.
  }
}

void Heartbeat::watch(const void* owner, const std::array<Ports, connections>& ports) {
  const std::scoped_lock lock(mutex_);
  watching_for_ = owner;
  for (std::size_t c = 0; c < connections; ++c) {
    watched_[c] = {dynamic_cast<const TrafficCounter*>(ports[c].to_next),
                   dynamic_cast<const TrafficCounter*>(ports[c].from_previous)};
  }
}

void Heartbeat::unwatch(const void* owner) {
  const std::scoped_lock lock(mutex_);
  if (watching_for_ != owner) return;
  watching_for_ = nullptr;
  watched_ = {};
}

std::array<Activity, connections> Heartbeat::activity(const TrafficCounter* Watched::*direction) const {
  const std::scoped_lock lock(mutex_);
  std::array<Activity, connections> all{};
  for (std::size_t c = 0; c < connections; ++c) {
    if (const TrafficCounter* const port = watched_[c].*direction; port != nullptr) all[c] = port->activity();
  }
  return all;
}

void Heartbeat::check_to_next(Connection connection) const {
  const Stall& stall = stalls_[connection];
  if (!stall.now) return;
  std::string text;
  {
    const std::scoped_lock lock(mutex_);
    text = stall.text;
  }
  throw RunError(text);
}

std::string Heartbeat::stall_text(Connection connection) const {
  std::string down;
  for (const std::string& device : devices_down(devices_)) {
    down += cat(down.empty() ? "devices down here: " : ", ", device);
  }
  return cat(connection == load_connection ? "slices of the start: " : "", "nothing has moved for ",
             in_seconds(options_.link_timeout), " s from ", name(rank_), " to ", name((rank_ + 1) % ranks_),
             " although both are ready: the network between them is cut (",
             down.empty() ? "no device is down here" : down, ")");
}

void Heartbeat::run() {
  const LinkWatch::Duration interval = LinkWatch::beat(options_.link_timeout);
  Clock::time_point next_beat = Clock::now();
  Clock::time_point give_up{};
  while (!stopping_) {
    const Clock::time_point now = Clock::now();
    look(now);
    if (now >= next_beat) {
      beat();
      judge(now);
      next_beat = now + interval;
    }
    if (failed_ && !std::exchange(failure_sent_, true)) {
      ControlMessage news;
      news.kind = ControlMessage::Kind::failure;
      news.text = why();
      links_.next.send(news);
      links_.previous.send(news);
    }
    if (finishing_ && !std::exchange(goodbye_sent_, true)) {
      give_up = now + parting;
      ControlMessage goodbye;
      goodbye.kind = ControlMessage::Kind::goodbye;
      links_.next.send(goodbye);
      links_.previous.send(goodbye);
    }
    links_.next.flush();
    links_.previous.flush();
    const bool written = !links_.next.waiting() && !links_.previous.waiting();
    if (failure_sent_ && written) {
      const std::scoped_lock lock(mutex_);
      all_told_ = true;
      told_.notify_all();
    }
    if (goodbye_sent_ && ((written && (failed_ || (next_left_ && previous_left_))) || now >= give_up)) return;

    std::array<pollfd, 3> fds{};
    fds[0] = {wake_.get(), POLLIN, 0};
    fds[1] = {links_.previous.fd(), static_cast<short>(POLLIN | (links_.previous.waiting() ? POLLOUT : 0)), 0};
    fds[2] = {links_.next.fd(), static_cast<short>(POLLIN | (links_.next.waiting() ? POLLOUT : 0)), 0};
    const Clock::time_point until = goodbye_sent_ ? std::min(next_beat, give_up) : next_beat;
    const auto left = time_left(until);
    const timespec timeout{static_cast<time_t>(left.count() / 1'000'000'000),
                           static_cast<long>(left.count() % 1'000'000'000)};
    ::ppoll(fds.data(), fds.size(), &timeout, nullptr);
    std::uint64_t events = 0;
    if (fds[0].revents != 0) static_cast<void>(::read(wake_.get(), &events, sizeof events) + 0);
  }
}

void Heartbeat::look(Clock::time_point now) {
  next_watch_.looks(now);
  previous_watch_.looks(now);
  hear(links_.next, next_watch_, next_left_, (rank_ + 1) % ranks_, now);
  hear(links_.previous, previous_watch_, previous_left_, (rank_ + ranks_ - 1) % ranks_, now);
}

void Heartbeat::hear(ControlLink& link, LinkWatch& watch, bool& left, int other, Clock::time_point now) {
  if (!link.open()) return;
  while (const auto message = link.receive()) {
    watch.heard(now);
    if (message->kind == ControlMessage::Kind::failure) note_failure(message->text);
    if (message->kind == ControlMessage::Kind::goodbye) left = true;
    if (message->kind == ControlMessage::Kind::beat && &link == &links_.next) {
      const auto sending = activity(&Watched::sending);
      for (const Connection c : {ring_connection, load_connection}) {
        watch.activity(c, sending[c], message->activity[c], now);
      }
    }
  }
  if (!link.open() && !left) note_failure(name(other) + " has ended without finishing");
}

void Heartbeat::judge(Clock::time_point now) {
  const auto silent = [&](const LinkWatch& watch, const ControlLink& link, bool left, int other) {
    if (!link.open() || left || !watch.silent(now)) return;
    note_failure(cat(name(other), " has not answered for ", in_seconds(options_.link_timeout),
                     " s: it is stopped, or its node or the management network is down"));
  };
  silent(next_watch_, links_.next, next_left_, (rank_ + 1) % ranks_);
  silent(previous_watch_, links_.previous, previous_left_, (rank_ + ranks_ - 1) % ranks_);
  for (const Connection c : {ring_connection, load_connection}) {
    const bool stalled = next_watch_.stalled(c, now);
    if (stalled == stalls_[c].now) continue;
    if (stalled) {
      std::string text = stall_text(c);
      const std::scoped_lock lock(mutex_);
      stalls_[c].text = std::move(text);
    }
    stalls_[c].now = stalled;
  }
}

void Heartbeat::beat() {
  ControlMessage message;
  message.activity = activity(&Watched::receiving);
  links_.previous.send(message);
  message.activity = {};
  links_.next.send(message);
}

}  // namespace dsea
