#include "dsea/comm/ucx_transport.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <thread>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/comm/gather.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "dsea/comm/ucx_connect.hpp"
#include "dsea/comm/ucx_context.hpp"
#include "dsea/comm/ucx_ports.hpp"
#include "dsea/comm/ucx_relay.hpp"

namespace dsea {
namespace {

using detail::UcxConnections;
using detail::UcxPortOptions;
using detail::UcxRelay;

class UcxTransport final : public Transport {
 public:
  UcxTransport(MpiSession& session, const UcxOptions& options)
      : session_(session),
        mpi_(make_mpi_transport(session, {.start_timeout = options.start_timeout, .heartbeat = options.heartbeat})),
        devices_(options.rails),
        takes_device_memory_(session.smallest(detail::ucx_takes_cuda_memory() ? 1 : 0, options.start_timeout) == 1) {
    if (size() == 1) return;
    for (const Connection c : {ring_connection, load_connection}) connect(c, options);
    {
      // MPI may keep bytes of a message that is complete for its sender until somebody calls it again, and nobody does
      // when all is connected: so until all ranks are known to be as far.
      const std::jthread pump([this](const std::stop_token& stop) { call_mpi(stop); });
      const auto limit = session.heartbeat({})->link_timeout() + std::chrono::seconds(2);
      gather_.gather(*this, {}, limit);  // a network that was cut meanwhile is known by then
      gather_.release(*this, limit);
    }
    const auto ends = [](const Link& link) { return Heartbeat::Ports{link.next.get(), link.previous.get()}; };
    session.heartbeat({})->watch(this, {{ends(links_[ring_connection]), ends(links_[load_connection])}});
  }

  ~UcxTransport() override {
    session_.heartbeat({})->unwatch(this);
    // UCX's connections are made while transfers go on, with the help of both sides, and relays may still be needed: so
    // nobody leaves in the middle of it, unless others do not come. Then all threads end before the first connection is
    // closed: otherwise they would see rails break.
    const auto together = [this] {
      try {
        if (!peer_failed()) session_.smallest(0, std::chrono::seconds(2));
      } catch (const std::exception&) {
      }
    };
    if (size() == 1) return;
    together();
    for_each_port([](detail::UcxPort& port) { port.stop_thread(); });
    for (const auto& relay : relays_) relay->stop_thread();
    together();
  }

  std::string name() const override { return "ucx"; }
  int rank() const override { return mpi_->rank(); }
  int size() const override { return mpi_->size(); }
  std::string describe() const override {
    const std::string rails = joined(devices_, ", ");
    return cat(
        "ucx: ", detail::ucx_version(), ", ", size(), size() == 1 ? " rank, " : " ranks, ",
        rails.empty() ? std::string("one rail over all devices that UCX finds (ring.rails is not set)")
                      : cat(devices_.size(), devices_.size() == 1 ? " rail" : " rails", " between nodes: ", rails,
                            relayed_ ? ", each card used by one rank and relays for the others" : ""),
        "; device memory ",
        takes_device_memory_ ? "is passed to UCX" : "staged through the host: this UCX has no CUDA support here");
  }
  bool takes_device_memory() const override { return takes_device_memory_; }
  void set_copy(Copy) override {}

  SendPort& to_next() override { return existing(links_[ring_connection].next.get(), "to_next()"); }
  ReceivePort& from_previous() override { return existing(links_[ring_connection].previous.get(), "from_previous()"); }
  void use_memory(void* data, std::size_t bytes, bool on_device) override {
    for_each_port([&](detail::UcxPort& port) { port.use_memory(data, bytes, on_device); }, {ring_connection});
  }
  std::vector<RailTraffic> rails() const override {
    const auto of = [](const Link& link) {
      return link.sending != nullptr ? link.sending->rails() : std::vector<RailTraffic>{};
    };
    std::vector<RailTraffic> all = of(links_[ring_connection]);
    for (const RailTraffic& rail : of(links_[load_connection])) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const RailTraffic& r) { return r.name == rail.name; });
      if (same == all.end())
        all.push_back(rail);
      else
        same->bytes += rail.bytes;
    }
    return all;
  }
  SendPort& load_to_next() override { return existing(links_[load_connection].next.get(), "load_to_next()"); }
  ReceivePort& load_from_previous() override {
    return existing(links_[load_connection].previous.get(), "load_from_previous()");
  }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout) override {
    return gather_.gather(*this, mine, timeout);
  }
  void finish(std::chrono::nanoseconds timeout) override { gather_.release(*this, timeout); }
  bool peer_failed() const override { return mpi_->peer_failed(); }
  std::string failure() const override { return mpi_->failure(); }
  void check_to_next() override { mpi_->check_to_next(); }
  void check_load_to_next() override { mpi_->check_load_to_next(); }
  std::string who() const override { return mpi_->who(); }
  void fail(int exit_code, const std::string& why) noexcept override { mpi_->fail(exit_code, why); }

 private:
  /// Both ends of a connection on this rank; null where there is none.
  struct Link {
    std::unique_ptr<SendPort> next;
    std::unique_ptr<ReceivePort> previous;
    detail::UcxPort* sending = nullptr;    // the same as next
    detail::UcxPort* receiving = nullptr;  // the same as previous
  };

  void connect(Connection connection, const UcxOptions& options) {
    const bool loads = connection == load_connection;
    UcxConnections made = detail::connect_ucx(session_, options, connection);
    const auto place = [&](int rank) { return made.places[static_cast<std::size_t>((rank + size()) % size())]; };
    const bool relayed = made.relayed || !made.relays.empty();
    relayed_ = relayed_ || relayed;
    UcxPortOptions port;
    port.longest_chunk = options.chunk_bytes;
    port.link_timeout = session_.heartbeat({})->link_timeout();  // that of its first transport
    port.window = relayed ? 8 : 3;
    port.device_memory = takes_device_memory_ && !loads;
    port.warn = options.warn;
    port.failing = [this] { return peer_failed(); };
    if (!loads) port.breaks = options.breaks;
    const std::string what = loads ? " slices of the start" : "";
    Link& link = links_[connection];
    if (!made.to_next.empty()) {
      port.name = cat("ucx: sending", what, " from ", place(rank()), " to ", place(rank() + 1));
      port.rail_names = made.to_next_names;
      port.within_node = made.next_within_node;
      auto next = detail::make_ucx_send_port(std::move(made.to_next), port);
      link.next = std::move(next.port);
      link.sending = next.shared;
    }
    if (!made.from_previous.empty()) {
      port.name = cat("ucx: receiving", what, " on ", place(rank()), " from ", place(rank() - 1));
      port.rail_names = made.from_previous_names;
      port.within_node = made.previous_within_node;
      auto previous = detail::make_ucx_receive_port(std::move(made.from_previous), port);
      link.previous = std::move(previous.port);
      link.receiving = previous.shared;
    }
    for (UcxConnections::Relay& relay : made.relays) {
      relays_.push_back(
          std::make_unique<UcxRelay>(std::move(relay.to_sender), std::move(relay.to_receiver), options.chunk_bytes));
    }
  }

  template <class Do>
  void for_each_port(Do act, std::initializer_list<Connection> which = {ring_connection, load_connection}) {
    for (const Connection c : which) {
      for (detail::UcxPort* port : {links_[c].sending, links_[c].receiving}) {
        if (port != nullptr) act(*port);
      }
    }
  }

  void call_mpi(const std::stop_token& stop) const {
    block_signals();
    name_this_thread("dsea mpi");
    while (!stop.stop_requested()) {
      session_.progress();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  template <class Port>
  Port& existing(Port* port, const std::string& what) const {
    if (port == nullptr) throw RunError(cat("ucx: rank ", rank(), " of ", size(), " has no port ", what));
    return *port;
  }

  MpiSession& session_;
  std::unique_ptr<Transport> mpi_;
  std::vector<std::string> devices_;
  const bool takes_device_memory_;
  bool relayed_ = false;
  RingGather gather_;
  std::vector<std::unique_ptr<UcxRelay>> relays_;  // outlive the ports
  std::array<Link, connections> links_;
};

}  // namespace

bool ucx_available() { return true; }

void check_ucx(const std::vector<std::string>& rails) {
  for (const std::string& device : rails) detail::demand_network_device(device);
}

std::unique_ptr<Transport> make_ucx_transport(MpiSession& session, const UcxOptions& options) {
  check_ucx(options.rails);
  constexpr std::size_t limit = (std::size_t{1} << 30) - 1;
  if (options.chunk_bytes < 1 || options.chunk_bytes > limit) {
    throw UsageError(cat("ucx: messages of at most ", options.chunk_bytes, " bytes; it must be between 1 and ", limit));
  }
  constexpr std::size_t most_rails = 64;
  if (options.rails.size() > most_rails) {
    throw UsageError(cat("ucx: ", options.rails.size(), " rails; at most ", most_rails, " are possible"));
  }
  return std::make_unique<UcxTransport>(session, options);
}

}  // namespace dsea
