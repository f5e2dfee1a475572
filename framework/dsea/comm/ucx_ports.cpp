// A transfer by UCX: a first message on the first rail says how many bytes come; then every rail carries its part of
// the stream of bytes, in messages of at most a chunk, straight between the segments of both sides. Both sides cut the
// stream in the same way, by its length and the number of rails.
#include "dsea/comm/ucx_ports.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/segments.hpp"
#include "dsea/comm/traffic.hpp"

namespace dsea::detail {
namespace {

constexpr std::size_t rail_window = 2;          // messages of a rail under way
constexpr std::uint64_t waits_every = 4;        // every so many small transfers one waits for its receiver
constexpr std::size_t need_not_wait = 3 << 10;  // bytes of a transfer that need not wait
constexpr std::size_t part_alignment = 64;      // parts of rails begin at multiples of it

struct FirstMessage {
  std::uint64_t transfer = 0;  // counted from 0
  std::uint64_t bytes = 0;     // of the whole transfer
};

/// Tags tell the messages of a rail apart: their number in the transfer, and the transfer's.
std::uint64_t tag_of(std::uint64_t transfer, std::uint64_t message) { return (transfer << 24) | message; }
constexpr std::uint64_t first_message_number = (1U << 24) - 1;

/// A rail's part of the stream while it travels.
class Part {
 public:
  void begin(std::size_t from, std::size_t to) {
    position_ = from;
    end_ = to;
    messages_ = 0;
  }

  /// Tests the messages under way and begins as many as possible; true when all are complete. begin_message(pieces,
  /// count, tag) returns the request.
  template <class BeginMessage>
  bool progress(UcxRail& rail, std::span<const Segment> segments, std::size_t chunk, std::uint64_t transfer,
                BeginMessage begin_message) {
    bool complete = true;
    for (Message& m : under_way_) {
      // Some messages are complete at once: nothing would wake anybody up for the next one.
      while (rail.test(m.request) && position_ != end_) {
        const std::size_t bytes = std::min(chunk, end_ - position_);
        std::size_t count = 0;
        for_each_piece_of_range(segments, position_, bytes, [&](const Segment& piece) {
          m.pieces[count++] = {piece.data, piece.bytes};
        });
        position_ += bytes;
        m.request = begin_message(m.pieces.data(), count, tag_of(transfer, messages_++));
      }
      complete = complete && m.request == nullptr;
    }
    return complete;
  }

  void cancel(UcxRail& rail) noexcept {
    for (Message& m : under_way_) rail.cancel(m.request);
  }

 private:
  struct Message {
    void* request = nullptr;
    std::array<ucp_dt_iov_t, SegmentList::most> pieces;
  };
  std::array<Message, rail_window> under_way_;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
  std::uint64_t messages_ = 0;
};

/// What both directions share. UCX works off its queues only while somebody calls it, and one side's transfer may need
/// the other side long after that has all its own bytes: so each port has a thread that sleeps until a rail has an
/// event.
class UcxPort : public TrafficCounter {
 protected:
  UcxPort(UcxRails rails, std::string name, std::size_t chunk)
      : rails_(std::move(rails)),
        name_(std::move(name)),
        chunk_(chunk),
        parts_(rails_.size()),
        files_(rails_.size() + 1) {
    for (std::size_t r = 0; r < rails_.size(); ++r) files_[r] = {rails_[r]->event_fd(), POLLIN, 0};
    wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_ < 0) throw RunError(name_ + ": no file for waking its thread up");
    files_.back() = {wake_, POLLIN, 0};
  }
  ~UcxPort() override {
    rails_[0]->cancel(first_request_);
    for (std::size_t r = 0; r < rails_.size(); ++r) parts_[r].cancel(*rails_[r]);
    rails_.clear();
    close(wake_);
  }

  /// To be called last when a port is made, and stop_thread() first when it goes.
  void start_thread() {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      block_signals();
      name_this_thread("dsea ucx");
      work(stop);
    });
  }
  void stop_thread() {
    thread_.request_stop();
    wake_thread();
    thread_.join();
  }

  /// One look at the transfer under way, by the thread or by start(); true when it is complete.
  virtual bool progress_transfer() = 0;

  /// Begins a transfer; `begin` does what the direction needs.
  template <class Begin>
  void start_transfer(std::span<const Segment> segments, Begin begin) {
    {
      const std::scoped_lock lock(mutex_);
      if (!error_.empty()) throw RunError(name_ + ": the connection is broken");
      if (busy_) throw RunError(name_ + ": a transfer is started before the one before it was complete");
      segments_.assign(segments, name_);
      if (segments_.on_device()) throw RunError(name_ + ": device memory must be staged through the host");
      const std::size_t all = segments_.bytes();
      const std::size_t share = (all / rails_.size() + part_alignment - 1) / part_alignment * part_alignment;
      for (std::size_t r = 0; r < rails_.size(); ++r) {
        const bool last = r + 1 == rails_.size();
        parts_[r].begin(std::min(all, r * share), last ? all : std::min(all, (r + 1) * share));
      }
      begin();
      busy_ = true;
      complete_ = false;
    }
    wake_thread();
  }

  bool wait_for(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!busy_) return true;
    changed_.wait_until(lock, deadline_after(timeout), [this] { return complete_ || !error_.empty(); });
    if (!complete_ && !error_.empty()) throw RunError(error_);
    if (!complete_) return false;
    busy_ = false;
    ++transfers_;
    count_transfer(segments_.bytes());
    return true;
  }

  template <class Begin>
  bool progress_parts(Begin begin) {
    bool complete = true;
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      UcxRail& rail = *rails_[r];
      complete = parts_[r].progress(rail, segments_.view(), chunk_, transfers_,
                                    [&](const ucp_dt_iov_t* pieces, std::size_t count, std::uint64_t tag) {
                                      return begin(rail, pieces, count, tag);
                                    }) &&
                 complete;
    }
    return complete;
  }

  UcxRails rails_;
  const std::string name_;
  const std::size_t chunk_;
  std::mutex mutex_;  // guards all but the files
  std::condition_variable changed_;
  std::vector<Part> parts_;
  SegmentList segments_;
  FirstMessage first_;
  ucp_dt_iov_t first_piece_{&first_, sizeof first_};
  void* first_request_ = nullptr;
  std::uint64_t transfers_ = 0;  // completed
  bool busy_ = false;
  bool complete_ = false;  // the one under way
  std::string error_;      // after it nothing goes through

 private:
  void wake_thread() const {
    const std::uint64_t one = 1;
    static_cast<void>(write(wake_, &one, sizeof one) == sizeof one);  // full: the thread will wake up anyway
  }

  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      bool quiet = true;
      {
        const std::scoped_lock lock(mutex_);
        try {
          if (error_.empty()) quiet = look();
        } catch (const std::exception& e) {
          error_ = e.what();
          changed_.notify_all();
        }
      }
      if (!quiet) continue;
      const timespec time{1, 0};
      if (ppoll(files_.data(), files_.size(), &time, nullptr) > 0 && (files_.back().revents & POLLIN) != 0) {
        std::uint64_t count = 0;
        static_cast<void>(read(wake_, &count, sizeof count));
      }
    }
  }

  /// Works off what has happened. True if nothing more has: the next event will be seen by poll.
  bool look() {
    bool moved = false;
    for (const auto& rail : rails_) moved = rail->progress() || moved;
    if (busy_ && !complete_ && progress_transfer()) {
      complete_ = true;
      changed_.notify_all();
      moved = true;
    }
    if (moved) return false;
    bool armed = true;
    for (const auto& rail : rails_) armed = rail->arm() && armed;
    return armed;
  }

  std::vector<pollfd> files_;  // of the rails, and the one that wakes the thread up
  int wake_ = -1;
  std::jthread thread_;
};

class UcxSendPort final : public SendPort, public UcxPort {
 public:
  UcxSendPort(UcxRails rails, std::string name, std::size_t chunk) : UcxPort(std::move(rails), std::move(name), chunk) {
    start_thread();
  }
  ~UcxSendPort() override { stop_thread(); }

  void start(std::span<const Segment> segments) override {
    start_transfer(segments, [this] {
      first_ = {transfers_, segments_.bytes()};
      first_request_ = rails_[0]->send(&first_piece_, 1, tag_of(transfers_, first_message_number),
                                       transfers_ % waits_every == waits_every - 1);
    });
  }
  bool wait(std::chrono::nanoseconds timeout) override { return wait_for(timeout); }

 private:
  bool progress_transfer() override {
    const bool first = rails_[0]->test(first_request_);
    const bool parts =
        progress_parts([this](UcxRail& rail, const ucp_dt_iov_t* pieces, std::size_t count, std::uint64_t tag) {
          return rail.send(pieces, count, tag, segments_.bytes() > need_not_wait);
        });
    return first && parts;
  }
};

class UcxReceivePort final : public ReceivePort, public UcxPort {
 public:
  UcxReceivePort(UcxRails rails, std::string name, std::size_t chunk)
      : UcxPort(std::move(rails), std::move(name), chunk) {
    start_thread();
  }
  ~UcxReceivePort() override { stop_thread(); }

  void start(std::span<const Segment> segments) override {
    start_transfer(segments, [this] {
      first_done_ = false;
      first_request_ = rails_[0]->receive(&first_piece_, 1, tag_of(transfers_, first_message_number));
    });
  }
  bool wait(std::chrono::nanoseconds timeout) override { return wait_for(timeout); }

 private:
  bool progress_transfer() override {
    if (!first_done_) {
      if (!rails_[0]->test(first_request_)) return false;
      first_done_ = true;
      if (first_.bytes != segments_.bytes()) {
        throw RunError(cat(name_, ": transfer ", transfers_ + 1, ": ", first_.bytes, " bytes were sent and ",
                           segments_.bytes(), " expected; the ranks disagree about what they exchange"));
      }
    }
    return progress_parts([](UcxRail& rail, const ucp_dt_iov_t* pieces, std::size_t count, std::uint64_t tag) {
      return rail.receive(pieces, count, tag);
    });
  }

  bool first_done_ = false;
};

}  // namespace

std::unique_ptr<SendPort> make_ucx_send_port(UcxRails rails, std::string name, std::size_t chunk_bytes) {
  return std::make_unique<UcxSendPort>(std::move(rails), std::move(name), chunk_bytes);
}

std::unique_ptr<ReceivePort> make_ucx_receive_port(UcxRails rails, std::string name, std::size_t chunk_bytes) {
  return std::make_unique<UcxReceivePort>(std::move(rails), std::move(name), chunk_bytes);
}

}  // namespace dsea::detail
