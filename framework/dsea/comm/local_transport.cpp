#include "dsea/comm/local_transport.hpp"

#include <atomic>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/gather.hpp"
#include "dsea/comm/local_channel.hpp"
#include "dsea/comm/traffic.hpp"

namespace dsea {
namespace {

/// What the ranks share. Channel p leads from rank p to the next; nothing goes through the one of `load` behind rank 0.
struct World {
  explicit World(int ranks) {
    for (int rank = 0; rank < ranks && ranks > 1; ++rank) {
      for (auto* channels : {&ring, &load}) {
        channels->push_back(std::make_unique<LocalChannel>(rank, (rank + 1) % ranks));
      }
    }
  }

  template <class Use>
  void for_each_channel(Use use) {
    for (auto* channels : {&ring, &load}) {
      for (auto& channel : *channels) use(*channel);
    }
  }

  std::vector<std::unique_ptr<LocalChannel>> ring, load;
  std::atomic<bool> failed{false};
};

class LocalSendPort final : public SendPort, public TrafficCounter {
 public:
  LocalSendPort(LocalChannel& channel, const Transport::Copy& copy) : channel_(channel), copy_(copy) {}
  ~LocalSendPort() override { channel_.close_sender(); }

  void start(std::span<const Segment> segments) override {
    if (busy_) throw RunError("local: send started before the one before it was complete");
    segments_.assign(segments, "local");
    if (segments_.on_device() && !copy_) throw RunError("local: device memory is sent, but set_copy() was not called");
    channel_.send(segments_);
    busy_ = true;
  }

  bool wait(std::chrono::nanoseconds timeout) override {
    if (!busy_) return true;
    if (!channel_.wait_sent(deadline_after(timeout))) return false;
    busy_ = false;
    count_transfer(segments_.bytes());
    return true;
  }

 private:
  LocalChannel& channel_;
  const Transport::Copy& copy_;
  SegmentList segments_;
  bool busy_ = false;
};

class LocalReceivePort final : public ReceivePort, public TrafficCounter {
 public:
  LocalReceivePort(LocalChannel& channel, const Transport::Copy& copy) : channel_(channel), copy_(copy) {}
  ~LocalReceivePort() override { channel_.close_receiver(); }

  void start(std::span<const Segment> segments) override {
    if (busy_) throw RunError("local: receive started before the one before it was complete");
    segments_.assign(segments, "local");
    if (segments_.on_device() && !copy_) {
      throw RunError("local: device memory is received, but set_copy() was not called");
    }
    busy_ = true;
  }

  bool wait(std::chrono::nanoseconds timeout) override {
    if (!busy_) return true;
    if (!channel_.receive(segments_, copy_, deadline_after(timeout))) return false;
    busy_ = false;
    count_transfer(segments_.bytes());
    return true;
  }

 private:
  LocalChannel& channel_;
  const Transport::Copy& copy_;
  SegmentList segments_;
  bool busy_ = false;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(std::shared_ptr<World> world, int rank, int size)
      : world_(std::move(world)), rank_(rank), size_(size) {
    if (size > 1) {
      const int previous = (rank + size - 1) % size;
      const auto behind_this = static_cast<std::size_t>(rank), behind_previous = static_cast<std::size_t>(previous);
      next_ = std::make_unique<LocalSendPort>(*world_->ring[behind_this], copy_);
      previous_ = std::make_unique<LocalReceivePort>(*world_->ring[behind_previous], copy_);
      if (rank != 0) load_next_ = std::make_unique<LocalSendPort>(*world_->load[behind_this], copy_);
      if (rank != 1) load_previous_ = std::make_unique<LocalReceivePort>(*world_->load[behind_previous], copy_);
    }
  }

  std::string name() const override { return "local"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string describe() const override {
    return cat("local: ", size_, size_ == 1 ? " rank" : " ranks", " in one process, transfers copied by ",
               copy_ ? "memcpy and the device" : "memcpy");
  }
  bool takes_device_memory() const override { return static_cast<bool>(copy_); }
  void set_copy(Copy copy) override { copy_ = std::move(copy); }

  SendPort& to_next() override { return existing(next_.get(), "to_next()"); }
  ReceivePort& from_previous() override { return existing(previous_.get(), "from_previous()"); }
  SendPort& load_to_next() override { return existing(load_next_.get(), "load_to_next()"); }
  ReceivePort& load_from_previous() override { return existing(load_previous_.get(), "load_from_previous()"); }

  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout) override {
    return gather_.gather(*this, mine, timeout);
  }

  bool in_one_process() const override { return true; }
  bool peer_failed() const override { return world_->failed.load(); }

  void fail(int, const std::string&) noexcept override {
    world_->for_each_channel([](LocalChannel& channel) { channel.stop(); });
    world_->failed.store(true);
    world_->for_each_channel([](LocalChannel& channel) { channel.release(); });
  }

 private:
  template <class Port>
  Port& existing(Port* port, const std::string& what) const {
    if (port == nullptr) throw RunError(cat("local: rank ", rank_, " of ", size_, " has no port ", what));
    return *port;
  }

  // The order matters: ports go before what they refer to.
  std::shared_ptr<World> world_;
  const int rank_;
  const int size_;
  Copy copy_;
  RingGather gather_;
  std::unique_ptr<LocalSendPort> next_, load_next_;
  std::unique_ptr<LocalReceivePort> previous_, load_previous_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_local_transports(int ranks) {
  if (ranks < 1) throw UsageError(cat("the number of ranks is ", ranks, "; it must be at least 1"));
  const auto world = std::make_shared<World>(ranks);
  std::vector<std::unique_ptr<Transport>> transports;
  transports.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    transports.push_back(std::make_unique<LocalTransport>(world, rank, ranks));
  }
  return transports;
}

}  // namespace dsea
