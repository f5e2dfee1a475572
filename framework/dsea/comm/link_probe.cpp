#include "dsea/comm/link_probe.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/traffic.hpp"

namespace dsea {
namespace {

/// One end of a link. Every transfer of data follows one of `header`, which says how many bytes come; 0: no more.
struct LinkEnd {
  std::uint64_t header = 0;
  std::unique_ptr<std::byte[]> data;
  std::size_t room = 0;

  /// Room for a transfer, every page of it touched.
  void grow(std::size_t bytes) {
    if (bytes <= room) return;
    data = std::make_unique<std::byte[]>(bytes);
    room = bytes;
  }
  Segment header_segment() { return {&header, sizeof header, false}; }
  Segment data_segment(std::size_t bytes) const { return {data.get(), bytes, false}; }
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class LinkProbe {
 public:
  LinkProbe(Transport& transport, const LinkProbeOptions& options)
      : transport_(transport), options_(options), deadline_(deadline_after(options.timeout)) {}

  LinkSpeed run() {
    {
      const std::jthread receiver([this] {
        block_signals();
        name_this_thread("dsea link probe");
        play([this](LinkEnd& end) { receive(end); });
      });
      play([this](LinkEnd& end) { send(end); });
    }
    if (error_) std::rethrow_exception(error_);
    return speed_;
  }

 private:
  /// One side. After an error the other one stops too, and the memory stays: a port may still use it.
  template <class Side>
  void play(const Side& side) {
    auto end = std::make_unique<LinkEnd>();
    try {
      side(*end);
    } catch (...) {
      if (!stop_.exchange(true)) error_ = std::current_exception();
      static_cast<void>(end.release());
    }
  }

  template <class Port>
  void transfer(Port& port, const Segment& segment, const char* direction, int other) {
    const auto* const counter = dynamic_cast<const TrafficCounter*>(&port);
    port.start({&segment, 1});
    Activity seen = counter != nullptr ? counter->activity() : Activity{};
    Clock::time_point silent = deadline_after(options_.silence);
    while (!port.wait(std::chrono::milliseconds(20))) {
      const std::string link = cat("measuring the link ", direction, " rank ", other, " on rank ", transport_.rank());
      if (transport_.peer_failed()) {
        const std::string why = transport_.failure();
        throw RunError(link + ": " + (why.empty() ? "another rank failed" : why));
      }
      transport_.check_to_next();
      if (const Activity now = counter != nullptr ? counter->activity() : Activity{};
          now != seen || counter == nullptr) {
        seen = now;
        silent = deadline_after(options_.silence);
      }
      if (time_left(silent).count() == 0) {
        throw RunError(cat(link, ": nothing has moved for ",
                           seconds_text(std::chrono::duration<double>(options_.silence).count()),
                           ": see what that rank says, and whether the nodes reach each other by ", transport_.name()));
      }
      if (stop_) throw RunError(link + ": given up");
      if (time_left(deadline_).count() == 0) {
        throw RunError(cat(link, ": nothing came through within ",
                           seconds_text(std::chrono::duration<double>(options_.timeout).count()),
                           ": see what that rank says, and whether the nodes reach each other by ", transport_.name()));
      }
    }
  }

  void send(LinkEnd& end) {
    SendPort& port = transport_.to_next();
    const int next = (transport_.rank() + 1) % transport_.size();
    const Clock::time_point begin = Clock::now();
    const double enough = std::chrono::duration<double>(options_.long_enough).count();
    bool last = false;
    for (std::size_t bytes = options_.first_bytes; bytes > 0;) {
      end.grow(bytes);
      end.header = bytes;
      transfer(port, end.header_segment(), "to", next);
      const Clock::time_point start = Clock::now();
      transfer(port, end.data_segment(bytes), "to", next);
      const double seconds = seconds_since(start);
      if (last) break;
      if (seconds < enough && 2 * bytes <= options_.most_bytes) {
        bytes *= 2;
      } else {
        if (seconds_since(begin) + seconds > 5 * enough) break;
        last = true;  // once more, since one transfer may meet with something
      }
    }
    end.header = 0;
    transfer(port, end.header_segment(), "to", next);
  }

  void receive(LinkEnd& end) {
    ReceivePort& port = transport_.from_previous();
    const int previous = (transport_.rank() + transport_.size() - 1) % transport_.size();
    for (;;) {
      transfer(port, end.header_segment(), "from", previous);
      const std::size_t bytes = end.header;
      if (bytes == 0) return;
      if (bytes > options_.most_bytes && bytes > options_.first_bytes) {
        throw RunError(cat("measuring the link from rank ", previous, ": it wants to send ", bytes,
                           " bytes: are all ranks the same program?"));
      }
      end.grow(bytes);
      const Clock::time_point start = Clock::now();
      transfer(port, end.data_segment(bytes), "from", previous);
      const double rate = static_cast<double>(bytes) / std::max(1e-9, seconds_since(start));
      if (bytes > speed_.bytes || rate > speed_.bytes_per_second) speed_.bytes_per_second = rate;
      speed_.bytes = bytes;
      ++speed_.transfers;
      end.grow(std::min(2 * bytes, options_.most_bytes));  // while the sender does the same
    }
  }

  Transport& transport_;
  const LinkProbeOptions options_;
  const Clock::time_point deadline_;
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  LinkSpeed speed_;
};

}  // namespace

LinkSpeed probe_link(Transport& transport, const LinkProbeOptions& options) {
  if (transport.size() == 1) return {};
  return LinkProbe(transport, options).run();
}

}  // namespace dsea
