// Heartbeats between ranks that are threads of this process: real sockets, no MPI.
#include "dsea/comm/heartbeat.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <future>
#include <memory>
#include <thread>

#include "dsea/base/error.hpp"
#include "dsea/base/packed_texts.hpp"
#include "dsea/base/text.hpp"

namespace {

using dsea::Clock;
using dsea::Heartbeat;
using dsea::HeartbeatOptions;
using namespace std::chrono_literals;

/// True as soon as `state()` is, false if it never is.
template <class State>
bool comes_true(State state) {
  for (const auto end = Clock::now() + 20s; Clock::now() < end; std::this_thread::sleep_for(2ms)) {
    if (state()) return true;
  }
  return false;
}

/// What MPI's gather does for processes.
class Meeting {
 public:
  explicit Meeting(int ranks) : brought_(static_cast<std::size_t>(ranks)), all_here_(ranks) {}
  std::vector<std::vector<std::byte>> exchange(int rank, std::span<const std::byte> mine) {
    brought_[static_cast<std::size_t>(rank)].assign(mine.begin(), mine.end());
    all_here_.arrive_and_wait();
    auto all = brought_;
    all_here_.arrive_and_wait();
    return all;
  }

 private:
  std::vector<std::vector<std::byte>> brought_;
  std::barrier<> all_here_;
};

/// Calls play(rank, exchange) in a thread for each rank, and waits for all.
template <class Play>
void on_ranks(int ranks, Play play) {
  Meeting meeting(ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      play(rank, [&meeting, rank](std::span<const std::byte> mine, Clock::time_point) {
        return meeting.exchange(rank, mine);
      });
    });
  }
}

std::vector<std::unique_ptr<Heartbeat>> heartbeats(int ranks, const HeartbeatOptions& options = {}) {
  std::vector<std::unique_ptr<Heartbeat>> all(static_cast<std::size_t>(ranks));
  on_ranks(ranks, [&](int rank, const Heartbeat::Exchange& exchange) {
    all[static_cast<std::size_t>(rank)] = std::make_unique<Heartbeat>(rank, ranks, exchange, options);
  });
  return all;
}

void finish_all(std::vector<std::unique_ptr<Heartbeat>>& all) {
  std::vector<std::jthread> threads;
  for (auto& heartbeat : all) {
    if (heartbeat) threads.emplace_back([&heartbeat] { heartbeat->finish(); });
  }
}

TEST(Heartbeat, ASingleRankHasNothingToWatch) {
  Heartbeat alone(0, 1, {}, {});
  EXPECT_EQ(alone.name(0), "rank 0");
  alone.tell_all("it fails");
  EXPECT_EQ(alone.why(), "it fails");
  alone.finish();
}

TEST(Heartbeat, RanksThatFinishAreNoFailure) {
  for (int ranks : {2, 3, 5}) {
    auto all = heartbeats(ranks);
    finish_all(all);
    for (const auto& heartbeat : all) EXPECT_FALSE(heartbeat->failed()) << heartbeat->why();
  }
}

TEST(Heartbeat, AFailureReachesEveryRankInItsWords) {
  for (int ranks : {2, 3, 8}) {
    auto all = heartbeats(ranks);
    all[1]->tell_all("the disk is full");
    for (const auto& heartbeat : all) {
      EXPECT_TRUE(comes_true([&] { return heartbeat->failed(); }));
      EXPECT_EQ(heartbeat->why(), "the disk is full");
    }
    all[0]->tell_all("another one");  // too late
    EXPECT_EQ(all[0]->why(), "the disk is full");
  }
}

TEST(Heartbeat, LongNewsAreCut) {
  auto all = heartbeats(2);
  all[0]->tell_all(std::string(100'000, 'x'));
  EXPECT_TRUE(comes_true([&] { return all[1]->failed(); }));
  EXPECT_EQ(all[1]->why(), std::string(dsea::ControlLink::longest_text, 'x'));
}

TEST(Heartbeat, ARankThatEndsWithoutGoodbyeIsNamed) {
  auto all = heartbeats(4);
  const std::string name = all[2]->name(2);
  EXPECT_EQ(name.find("rank 2 on "), 0U);
  all[2].reset();
  for (const auto& heartbeat : all) {
    if (!heartbeat) continue;
    EXPECT_TRUE(comes_true([&] { return heartbeat->failed(); }));
    EXPECT_EQ(heartbeat->why(), name + " has ended without finishing");
  }
}

TEST(Heartbeat, ARankThatHasLeftEarlyNeitherFailsNorIsMissed) {
  auto all = heartbeats(4);
  all[1]->finish();
  all[1].reset();
  // News go round the other way.
  all[0]->tell_all("it fails");
  for (const auto& heartbeat : all) {
    if (!heartbeat) continue;
    EXPECT_TRUE(comes_true([&] { return heartbeat->failed(); }));
    EXPECT_EQ(heartbeat->why(), "it fails");
  }
}

TEST(Heartbeat, ARankThatSaysNothingIsNoticedByItsNeighbours) {
  constexpr int ranks = 3;
  std::vector<std::string> why(ranks);
  std::promise<void> noticed;
  on_ranks(ranks, [&](int rank, const Heartbeat::Exchange& exchange) {
    if (rank == 2) {  // connects and falls silent, as a process that is stopped
      const dsea::ControlListener listener;
      std::array<char, 256> host{};
      ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
      const dsea::ControlCard card{host.data(), 1, listener.port, "", {{"lo", "127.0.0.1", true}}};
      std::vector<dsea::ControlCard> cards;
      for (const auto& bytes : exchange(card.packed(), {})) cards.push_back(dsea::ControlCard::unpacked(bytes));
      const auto links = dsea::connect_control(listener, rank, cards, Clock::now() + 20s);
      exchange({}, {});
      noticed.get_future().wait();
      return;
    }
    const Heartbeat heartbeat(rank, ranks, exchange, {.link_timeout = 1s});
    EXPECT_TRUE(comes_true([&] { return heartbeat.failed(); }));
    why[static_cast<std::size_t>(rank)] = heartbeat.why();
    if (rank == 0) noticed.set_value();
  });
  for (const std::string& text : {why[0], why[1]}) {
    EXPECT_EQ(text.find("rank 2 on "), 0U) << text;
    EXPECT_NE(text.find(" has not answered for 1 s"), std::string::npos) << text;
  }
}

class FakeSend : public dsea::SendPort, public dsea::TrafficCounter {
 public:
  void start(std::span<const dsea::Segment>) override { count_start(); }
  bool wait(std::chrono::nanoseconds) override { return false; }
};

class FakeReceive : public dsea::ReceivePort, public dsea::TrafficCounter {
 public:
  void start(std::span<const dsea::Segment>) override { count_start(); }
  bool wait(std::chrono::nanoseconds) override {
    count_move();
    return false;
  }
};

bool stalled(const Heartbeat& heartbeat, dsea::Connection connection) {
  try {
    heartbeat.check_to_next(connection);
    return false;
  } catch (const dsea::RunError& error) {
    EXPECT_NE(std::string(error.what()).find("nothing has moved for 1 s from rank 0 on "), std::string::npos)
        << error.what();
    return true;
  }
}

TEST(Heartbeat, AStalledConnectionIsToldToItsSenderAlone) {
  for (const dsea::Connection connection : {dsea::ring_connection, dsea::load_connection}) {
    const auto other = connection == dsea::ring_connection ? dsea::load_connection : dsea::ring_connection;
    auto all = heartbeats(3, {.link_timeout = 1s});
    std::vector<FakeSend> send(3);
    std::vector<FakeReceive> receive(3);
    for (std::size_t r = 0; r < 3; ++r) {
      std::array<Heartbeat::Ports, dsea::connections> ports{};  // not all ranks have both connections
      ports[connection] = {&send[r], &receive[r]};
      all[r]->watch(&send[r], ports);
    }
    send[0].start({});
    receive[1].start({});
    send[1].start({});  // its receiver is not ready
    receive[0].start({});
    EXPECT_TRUE(comes_true([&] { return stalled(*all[0], connection); }));
    EXPECT_FALSE(stalled(*all[0], other));
    EXPECT_FALSE(stalled(*all[1], connection));
    EXPECT_FALSE(stalled(*all[2], connection));
    receive[1].wait({});  // something moves after all
    EXPECT_TRUE(comes_true([&] { return !stalled(*all[0], connection); }));
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_FALSE(all[r]->failed()) << all[r]->why();
      all[r]->unwatch(&send[r]);
    }
    finish_all(all);
  }
}

TEST(Heartbeat, TheLastResortComesWhenTheProgramDoesNotEnd) {
  std::atomic<int> calls{0};
  HeartbeatOptions options;
  options.last_resort = [&](const std::string& why) { calls += why == "it fails" ? 1 : 100; };
  auto all = heartbeats(2, options);
  const auto start = Clock::now();
  all[0]->tell_all("it fails");
  EXPECT_TRUE(comes_true([&] { return all[1]->failed(); }));
  all.clear();  // even then
  ASSERT_TRUE(comes_true([&] { return calls == 2; }));
  EXPECT_GE(Clock::now() - start, 2900ms);
}

TEST(Heartbeat, ADeviceThatIsNotThereIsRefusedByAllRanks) {
  on_ranks(3, [&](int rank, const Heartbeat::Exchange& exchange) {
    HeartbeatOptions options;
    if (rank == 1) options.device = "no-device";
    try {
      const Heartbeat heartbeat(rank, 3, exchange, options);
      ADD_FAILURE();
    } catch (const dsea::UsageError& error) {
      EXPECT_EQ(std::string(error.what()).find("rank 1 on "), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find("'no-device'"), std::string::npos) << error.what();
    }
  });
}

/// What two ranks throw of which the second has this card, and sends `failure` instead of making connections.
template <class ErrorOfAll>
std::string refusal(dsea::ControlCard card, const std::vector<std::string>& failure) {
  std::string text;
  on_ranks(2, [&](int rank, const Heartbeat::Exchange& exchange) {
    const dsea::ControlListener listener;
    if (rank == 1) {
      exchange(card.packed(), {});
      exchange(dsea::pack_texts(failure), {});
      return;
    }
    try {
      const Heartbeat heartbeat(rank, 2, exchange, {.start_timeout = 300ms});
      ADD_FAILURE();
    } catch (const ErrorOfAll& error) {
      text = error.what();
    }
  });
  return text;
}

TEST(Heartbeat, WrongUseThatConnectingFindsIsWrongUseOnAllRanks) {
  using dsea::RunError, dsea::UsageError;
  const dsea::ControlCard elsewhere{"elsewhere", 7, 1, "", {{"lo", "127.0.0.1", true}}};
  EXPECT_NE(refusal<UsageError>(elsewhere, {}).find("no device that ring.control allows"), std::string::npos);
  // Nobody listens there, and the other rank says the same, or knows why.
  const dsea::ControlCard deaf{"elsewhere", 7, 1, "", {{"eth0", "127.0.0.1", false}}};
  EXPECT_EQ(refusal<RunError>(deaf, {"", "too late"}).find("no control connection from rank 0 on "), 0U);
  EXPECT_EQ(refusal<UsageError>(deaf, {"a mistake", ""}), "a mistake");
}

TEST(ControlLinks, StrangersAreSentAwayAndAddressesTriedInTurn) {
  std::promise<std::uint16_t> port;
  std::promise<void> greeted;
  on_ranks(2, [&](int rank, const Heartbeat::Exchange& exchange) {
    const dsea::ControlListener listener;
    if (rank == 0) {
      port.set_value(listener.port);
      greeted.get_future().wait();  // strangers are first in the queue
    }
    dsea::ControlCard card{"here", 7, listener.port, "", {{"lo", "127.0.0.1", true}}};
    // Nobody is there at the first address of rank 1.
    if (rank == 1) card.addresses.insert(card.addresses.begin(), {"lo", "127.1.2.3", true});
    std::vector<dsea::ControlCard> cards;
    std::vector<int> strangers;
    if (rank == 1) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port.get_future().get());
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      for (const char* text : {"GET / HTTP/1.0\r\n\r\n and more of it, as long as a hello", "short", ""}) {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::send(fd, text, std::char_traits<char>::length(text), 0),
                  static_cast<ssize_t>(std::char_traits<char>::length(text)));
        strangers.push_back(fd);
      }
      greeted.set_value();
    }
    for (const auto& bytes : exchange(card.packed(), {})) cards.push_back(dsea::ControlCard::unpacked(bytes));
    ASSERT_EQ(cards[1].addresses.size(), 2U);
    dsea::ControlLinks links = dsea::connect_control(listener, rank, cards, Clock::now() + 20s);
    links.next.send({dsea::ControlMessage::Kind::failure, {}, dsea::cat("from ", rank)});
    std::optional<dsea::ControlMessage> message;
    EXPECT_TRUE(comes_true([&] { return (message = links.previous.receive()).has_value(); }));
    EXPECT_EQ(message->text, dsea::cat("from ", 1 - rank));
    for (const int fd : strangers) ::close(fd);
    exchange({}, {});  // nobody leaves before
  });
}

TEST(ControlLinks, WhereThereIsNoWayBothNodesAndTheAddressesAreNamed) {
  const dsea::ControlListener listener;
  std::vector<dsea::ControlCard> cards(2);
  cards[0] = {"one", 7, listener.port, "", {{"eth0", "127.0.0.1", false}}};
  cards[1] = {"two", 7, 1, "", {{"eth7", "127.0.0.1", false}, {"lo", "127.0.0.2", true}}};
  try {
    dsea::connect_control(listener, 0, cards, Clock::now() + 300ms);
    FAIL();
  } catch (const dsea::RunError& error) {
    const std::string text = error.what();
    for (const char* part : {"from rank 0 on one to rank 1 on two", "127.0.0.1 (eth7)", "ring.control"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
    EXPECT_EQ(text.find("127.0.0.2"), std::string::npos) << "another machine's loopback device: " << text;
  }
}

}  // namespace
