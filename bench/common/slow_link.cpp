#include "common/slow_link.hpp"

#include <algorithm>
#include <thread>

namespace bench {

class SlowLink::Port : public dsea::SendPort {
 public:
  using Clock = std::chrono::steady_clock;

  Port(dsea::SendPort& port, double bandwidth) : port_(port), bandwidth_(bandwidth) {}

  void start(std::span<const dsea::Segment> segments) override {
    begin_ = Clock::now();
    segments_.assign(segments.begin(), segments.end());
    std::size_t bytes = 0;
    for (const dsea::Segment& s : segments) bytes += s.bytes;
    const double seconds = bandwidth_ > 0 ? static_cast<double>(bytes) / bandwidth_ : 0.0;
    release_ = begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    started_ = false;
    // What takes no time must not wait for the caller's next look.
    if (seconds == 0) start_now();
  }

  bool wait(std::chrono::nanoseconds timeout) override {
    const auto deadline = Clock::now() + timeout;
    if (!started_) {
      std::this_thread::sleep_until(std::min(release_, deadline));
      if (Clock::now() < release_) return false;
      start_now();
    }
    if (!port_.wait(std::max(std::chrono::nanoseconds(0), deadline - Clock::now()))) return false;
    busy_ += Clock::now() - begin_;
    return true;
  }

  double busy_seconds() const { return std::chrono::duration<double>(busy_).count(); }

 private:
  void start_now() {
    port_.start(segments_);
    started_ = true;
  }

  dsea::SendPort& port_;
  const double bandwidth_;
  std::vector<dsea::Segment> segments_;
  Clock::time_point begin_, release_;
  bool started_ = false;
  Clock::duration busy_{};
};

SlowLink::SlowLink(std::unique_ptr<dsea::Transport> transport, double bandwidth) : transport_(std::move(transport)) {
  if (transport_->size() > 1) port_ = std::make_unique<Port>(transport_->to_next(), bandwidth);
}

SlowLink::~SlowLink() = default;

double SlowLink::busy_seconds() const { return port_ ? port_->busy_seconds() : 0.0; }

dsea::SendPort& SlowLink::to_next() { return *port_; }

}  // namespace bench
