// A transport whose link to the next rank takes a given time, however fast the machine is, and says how long it took.
#pragma once

#include <memory>

#include "dsea/comm/transport.hpp"

namespace bench {

class SlowLink : public dsea::Transport {
 public:
  /// `bandwidth`: bytes a second that no transfer to the next rank exceeds: it begins late. 0: as fast as it goes.
  SlowLink(std::unique_ptr<dsea::Transport> transport, double bandwidth);
  ~SlowLink() override;

  /// Seconds that transfers to the next rank were under way, from start() to their completion; after the run.
  double busy_seconds() const;

  std::string name() const override { return transport_->name(); }
  int rank() const override { return transport_->rank(); }
  int size() const override { return transport_->size(); }
  std::string describe() const override { return transport_->describe(); }
  bool takes_device_memory() const override { return transport_->takes_device_memory(); }
  void set_copy(Copy copy) override { transport_->set_copy(std::move(copy)); }
  dsea::SendPort& to_next() override;
  dsea::ReceivePort& from_previous() override { return transport_->from_previous(); }
  dsea::SendPort& load_to_next() override { return transport_->load_to_next(); }
  dsea::ReceivePort& load_from_previous() override { return transport_->load_from_previous(); }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout) override {
    return transport_->gather(mine, timeout);
  }
  void use_memory(void* data, std::size_t bytes, bool on_device) override {
    transport_->use_memory(data, bytes, on_device);
  }
  std::vector<dsea::RailTraffic> rails() const override { return transport_->rails(); }
  void finish(std::chrono::nanoseconds timeout) override { transport_->finish(timeout); }
  bool in_one_process() const override { return transport_->in_one_process(); }
  bool peer_failed() const override { return transport_->peer_failed(); }
  std::string failure() const override { return transport_->failure(); }
  void check_to_next() override { transport_->check_to_next(); }
  void check_load_to_next() override { transport_->check_load_to_next(); }
  std::string who() const override { return transport_->who(); }
  void fail(int exit_code, const std::string& why) noexcept override { transport_->fail(exit_code, why); }

 private:
  class Port;
  std::unique_ptr<dsea::Transport> transport_;
  std::unique_ptr<Port> port_;  // none in a ring of one rank
};

}  // namespace bench
