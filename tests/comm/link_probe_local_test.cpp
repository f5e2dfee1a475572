// What a probe does where a link is slow, or a neighbour does not come.
#include <gtest/gtest.h>

#include <thread>

#include "comm/harness.hpp"
#include "dsea/base/error.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/link_probe.hpp"
#include "dsea/comm/local_transport.hpp"

namespace {

using std::chrono::milliseconds;

/// Bytes take their time before the sender is done.
class SlowSendPort final : public dsea::SendPort {
 public:
  SlowSendPort(dsea::SendPort& port, double rate) : port_(port), rate_(rate) {}
  void start(std::span<const dsea::Segment> segments) override {
    pending_.assign(segments.begin(), segments.end());
    double bytes = 0;
    for (const auto& s : segments) bytes += static_cast<double>(s.bytes);
    bytes_ += bytes;
    due_ = dsea::Clock::now() +
           std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(bytes / rate_));
    started_ = false;
  }
  bool wait(std::chrono::nanoseconds timeout) override {
    if (!started_) {
      std::this_thread::sleep_until(due_);
      port_.start(pending_);
      started_ = true;
    }
    return port_.wait(timeout);
  }
  double bytes() const { return bytes_; }

 private:
  dsea::SendPort& port_;
  const double rate_;
  std::vector<dsea::Segment> pending_;
  dsea::Clock::time_point due_;
  bool started_ = false;
  double bytes_ = 0;
};

/// A local transport whose link to the next rank carries `rate` bytes a second.
class SlowTransport final : public dsea::Transport {
 public:
  SlowTransport(dsea::Transport& whole, double rate) : whole_(whole), next_(whole.to_next(), rate) {}
  std::string name() const override { return whole_.name(); }
  int rank() const override { return whole_.rank(); }
  int size() const override { return whole_.size(); }
  std::string describe() const override { return whole_.describe(); }
  bool takes_device_memory() const override { return false; }
  void set_copy(Copy) override {}
  SlowSendPort& to_next() override { return next_; }
  dsea::ReceivePort& from_previous() override { return whole_.from_previous(); }
  dsea::SendPort& load_to_next() override { return whole_.load_to_next(); }
  dsea::ReceivePort& load_from_previous() override { return whole_.load_from_previous(); }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout) override {
    return whole_.gather(mine, timeout);
  }
  bool peer_failed() const override { return whole_.peer_failed(); }
  void fail(int exit_code, const std::string& why) noexcept override { whole_.fail(exit_code, why); }

 private:
  dsea::Transport& whole_;
  SlowSendPort next_;
};

TEST(LinkProbeLocal, SlowLinksCarryLittle) {
  const auto ranks = dsea::make_local_transports(2);
  SlowTransport slow(*ranks[0], 10e6);
  dsea::LinkSpeed speed;
  {
    const std::jthread other([&] { speed = probe_link(*ranks[1]); });
    probe_link(slow);
  }
  EXPECT_EQ(speed.bytes, std::size_t{1} << 20) << "it takes 105 ms";
  EXPECT_LE(slow.to_next().bytes(), 2.1 * (1 << 20)) << "0.2 s";
  EXPECT_GE(speed.bytes_per_second, 0);
}

TEST(LinkProbeLocal, ANeighbourThatDoesNotComeIsNamed) {
  const auto ranks = dsea::make_local_transports(3);
  try {
    probe_link(*ranks[1], {.timeout = milliseconds(100)});
    FAIL() << "no error";
  } catch (const dsea::RunError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("measuring the link "), std::string::npos) << text;
    EXPECT_NE(text.find(" on rank 1: nothing came through within 100 ms"), std::string::npos) << text;
  }
  ranks[1]->fail(3, "on purpose");
}

TEST(LinkProbeLocal, ARankThatFailsEndsTheProbeOfTheOthers) {
  const auto ranks = dsea::make_local_transports(2);
  const std::jthread other([&] {
    std::this_thread::sleep_for(milliseconds(50));
    ranks[0]->fail(3, "on purpose");
  });
  try {
    probe_link(*ranks[1]);
    FAIL() << "no error";
  } catch (const dsea::RunError& e) {
    EXPECT_NE(std::string(e.what()).find("another rank failed"), std::string::npos) << e.what();
  }
}

}  // namespace
