#include "dsea/comm/ucx_transport.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "dsea/base/backoff.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "dsea/comm/ucx_ports.hpp"

namespace dsea {
namespace {

using detail::UcxRail;
using detail::UcxRails;

std::string library_version() {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  return cat("UCX ", major, ".", minor, ".", release);
}

UcxRails open_rails(const std::vector<std::string>& devices, const std::string& port) {
  UcxRails rails;
  for (const std::string& device : devices) {
    rails.push_back(std::make_unique<UcxRail>(device, device.empty() ? port : cat(port, ", rail ", device)));
  }
  return rails;
}

/// The addresses of all rails, one after the other, each behind its length.
std::vector<std::byte> packed_addresses(const UcxRails& rails) {
  std::vector<std::byte> all;
  for (const auto& rail : rails) {
    const std::vector<std::byte> address = rail->address();
    const std::uint64_t length = address.size();
    const auto* const bytes = reinterpret_cast<const std::byte*>(&length);
    all.insert(all.end(), bytes, bytes + sizeof length);
    all.insert(all.end(), address.begin(), address.end());
  }
  return all;
}

void connect(const UcxRails& rails, std::span<const std::byte> addresses, int other) {
  for (const auto& rail : rails) {
    std::uint64_t length = 0;
    if (addresses.size() >= sizeof length) std::memcpy(&length, addresses.data(), sizeof length);
    if (length == 0 || addresses.size() - sizeof length < length) {
      throw UsageError(cat("ucx: rank ", other, " has fewer rails than this one: all ranks need as many"));
    }
    rail->connect(addresses.subspan(sizeof length, length));
    addresses = addresses.subspan(sizeof length + length);
  }
  if (!addresses.empty())
    throw UsageError(cat("ucx: rank ", other, " has more rails than this one: all ranks need as many"));
}

/// A word over every rail, both ways, so that all connections are made before the first transfer, and one that cannot
/// be is known by its name at the start.
void say_hello(const UcxRails& sending, const UcxRails& receiving, Clock::time_point deadline) {
  constexpr std::uint64_t tag = ~std::uint64_t{0};
  struct Word {
    std::uint64_t text = 0x48454c4c4f;
    ucp_dt_iov_t piece{&text, sizeof text};
    void* request = nullptr;
  };
  std::vector<Word> out(sending.size()), in(receiving.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    in[r].request = receiving[r]->receive(&in[r].piece, 1, tag);
    out[r].request = sending[r]->send(&out[r].piece, 1, tag, true);
  }
  for (Backoff backoff;;) {
    bool moved = false;
    const std::string* missing = nullptr;
    for (std::size_t r = 0; r < out.size(); ++r) {
      for (UcxRail* rail : {sending[r].get(), receiving[r].get()}) moved = rail->progress() || moved;
      if (!sending[r]->test(out[r].request)) missing = &sending[r]->name();
      if (!receiving[r]->test(in[r].request)) missing = &receiving[r]->name();
    }
    if (missing == nullptr) return;
    if (time_left(deadline).count() == 0) {
      for (std::size_t r = 0; r < out.size(); ++r) {
        sending[r]->cancel(out[r].request);
        receiving[r]->cancel(in[r].request);
      }
      throw RunError(cat(*missing, ": no connection: can these nodes reach each other over this device?"));
    }
    if (moved)
      backoff.reset();
    else
      backoff.pause();
  }
}

class UcxTransport final : public Transport {
 public:
  UcxTransport(MpiSession& session, const UcxOptions& options)
      : session_(session),
        mpi_(make_mpi_transport(session, {std::min(options.chunk_bytes, MpiOptions{}.chunk_bytes),
                                          options.start_timeout, options.heartbeat})),
        devices_(options.rails) {
    if (devices_.empty()) devices_.emplace_back();
    if (size() == 1) return;
    const int next = (rank() + 1) % size();
    const int previous = (rank() + size() - 1) % size();
    UcxRails receiving = open_rails(devices_, cat("ucx: receiving on rank ", rank(), " from rank ", previous));
    UcxRails sending = open_rails(devices_, cat("ucx: sending from rank ", rank(), " to rank ", next));
    const auto addresses = session.gather_all(packed_addresses(receiving), options.start_timeout);
    connect(sending, addresses[static_cast<std::size_t>(next)], next);
    say_hello(sending, receiving, deadline_after(options.start_timeout));
    next_ = make_ucx_send_port(std::move(sending), cat("ucx: sending from rank ", rank(), " to rank ", next),
                               options.chunk_bytes);
    previous_ = make_ucx_receive_port(
        std::move(receiving), cat("ucx: receiving on rank ", rank(), " from rank ", previous), options.chunk_bytes);
    session.heartbeat({})->watch(*next_, *previous_);
    session.smallest(0, options.start_timeout);  // from here on nobody makes connections any more
  }

  ~UcxTransport() override {
    if (next_) session_.heartbeat({})->unwatch(*next_);
    // UCX's connections are made while transfers go on, with the help of both sides: nobody leaves in the middle of it,
    // unless others do not come.
    try {
      if (size() > 1) session_.smallest(0, std::chrono::seconds(2));
    } catch (const std::exception&) {
    }
  }

  std::string name() const override { return "ucx"; }
  int rank() const override { return mpi_->rank(); }
  int size() const override { return mpi_->size(); }
  std::string describe() const override {
    std::string rails;
    for (const std::string& device : devices_) rails += cat(rails.empty() ? "" : ", ", device);
    return cat("ucx: ", library_version(), ", ", size(), size() == 1 ? " rank, " : " ranks, ",
               rails.empty() ? std::string("one rail over all devices that UCX finds (ring.rails is not set)")
                             : cat(devices_.size(), devices_.size() == 1 ? " rail: " : " rails: ", rails),
               "; loading and reports by MPI; device memory staged through the host: this UCX is used for host memory");
  }
  bool takes_device_memory() const override { return false; }
  void set_copy(Copy) override {}

  SendPort& to_next() override { return existing(next_.get(), "to_next()"); }
  ReceivePort& from_previous() override { return existing(previous_.get(), "from_previous()"); }
  SendPort& load_to_first() override { return mpi_->load_to_first(); }
  ReceivePort& load_from(int rank) override { return mpi_->load_from(rank); }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout) override {
    return mpi_->gather(mine, timeout);
  }
  bool peer_failed() const override { return mpi_->peer_failed(); }
  std::string failure() const override { return mpi_->failure(); }
  void check_to_next() override { mpi_->check_to_next(); }
  std::string who() const override { return mpi_->who(); }
  void fail(int exit_code, const std::string& why) noexcept override { mpi_->fail(exit_code, why); }

 private:
  template <class Port>
  Port& existing(Port* port, const std::string& what) const {
    if (port == nullptr) throw RunError(cat("ucx: rank ", rank(), " of ", size(), " has no port ", what));
    return *port;
  }

  MpiSession& session_;
  std::unique_ptr<Transport> mpi_;
  std::vector<std::string> devices_;
  std::unique_ptr<SendPort> next_;
  std::unique_ptr<ReceivePort> previous_;
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
  return std::make_unique<UcxTransport>(session, options);
}

}  // namespace dsea
