#include "dsea/comm/mpi_transport.hpp"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/gather.hpp"
#include "dsea/comm/mpi_detail.hpp"

namespace dsea {
namespace {

using detail::make_mpi_receive_port;
using detail::make_mpi_send_port;
using detail::mpi_duplicate_world;

/// Communicators of a ring of connections. A thread uses one of them and no other thread of its rank does: rank p's
/// output thread that of link p, its input thread that of link p - 1; neighbouring links differ.
struct RingCommunicators {
  RingCommunicators(int ranks, Clock::time_point deadline)
      : even(mpi_duplicate_world(deadline)), odd(mpi_duplicate_world(deadline)) {
    if (ranks % 2 != 0) last = mpi_duplicate_world(deadline);
  }

  /// Of the link from rank `from` to the next one; the last of an odd number meets link 0, even as well.
  MPI_Comm link(int from, int ranks) const {
    if (ranks % 2 != 0 && from == ranks - 1) return last;
    return from % 2 == 0 ? even : odd;
  }

  MPI_Comm even, odd;
  MPI_Comm last = MPI_COMM_NULL;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(const MpiSession& session, std::size_t chunk, Clock::time_point deadline,
               std::shared_ptr<Heartbeat> heartbeat, MpiDeviceAnswer device_memory)
      : rank_(session.rank()),
        size_(session.size()),
        library_(session.library()),
        heartbeat_(std::move(heartbeat)),
        device_memory_(std::move(device_memory)),
        ring_(size_, deadline),
        load_(size_, deadline) {
    if (size_ == 1) return;
    const Transport::Copy* const copy = device_memory_.yes ? &copy_ : nullptr;
    const int next = (rank_ + 1) % size_;
    const int previous = (rank_ + size_ - 1) % size_;
    next_ = make_mpi_send_port(ring_.link(rank_, size_), rank_, next, chunk, copy);
    previous_ = make_mpi_receive_port(ring_.link(previous, size_), rank_, previous, copy);
    if (rank_ != 0) load_next_ = make_mpi_send_port(load_.link(rank_, size_), rank_, next, chunk);
    if (rank_ != 1) load_previous_ = make_mpi_receive_port(load_.link(previous, size_), rank_, previous);
    heartbeat_->watch(this, {{{next_.get(), previous_.get()}, {load_next_.get(), load_previous_.get()}}});
  }

  ~MpiTransport() override { heartbeat_->unwatch(this); }

  std::string name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string describe() const override {
    return cat("mpi: ", library_, ", ", size_, size_ == 1 ? " rank" : " ranks",
               device_memory_.yes ? ", device memory goes straight (" : ", device memory staged through the host (",
               device_memory_.why, ")");
  }
  bool takes_device_memory() const override { return device_memory_.yes; }
  void set_copy(Copy copy) override { copy_ = std::move(copy); }  // for what comes within a first message

  SendPort& to_next() override { return existing(next_.get(), "to_next()"); }
  ReceivePort& from_previous() override { return existing(previous_.get(), "from_previous()"); }
  SendPort& load_to_next() override { return existing(load_next_.get(), "load_to_next()"); }
  ReceivePort& load_from_previous() override { return existing(load_previous_.get(), "load_from_previous()"); }

  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout) override {
    return gather_.gather(*this, mine, timeout);
  }
  void finish(std::chrono::nanoseconds timeout) override { gather_.release(*this, timeout); }

  bool peer_failed() const override { return heartbeat_->failed(); }
  std::string failure() const override { return heartbeat_->why(); }
  void check_to_next() override { heartbeat_->check_to_next(ring_connection); }
  void check_load_to_next() override { heartbeat_->check_to_next(load_connection); }
  std::string who() const override { return heartbeat_->name(rank_); }

  void fail(int exit_code, const std::string& why) noexcept override {
    constexpr std::chrono::milliseconds words(1000);  // for all ranks to say what they waited for
    heartbeat_->tell_all(why);
    if (size_ > 1) std::this_thread::sleep_until(heartbeat_->failed_at() + words);
    MpiSession::end_job(exit_code);
  }

 private:
  template <class Port>
  Port& existing(Port* port, const std::string& what) const {
    if (port == nullptr) throw RunError(cat("mpi: rank ", rank_, " of ", size_, " has no port ", what));
    return *port;
  }

  const int rank_;
  const int size_;
  const std::string library_;
  const std::shared_ptr<Heartbeat> heartbeat_;
  const MpiDeviceAnswer device_memory_;
  Copy copy_;
  // The order matters: ports go before what they refer to.
  const RingCommunicators ring_, load_;
  RingGather gather_;
  std::unique_ptr<SendPort> next_, load_next_;
  std::unique_ptr<ReceivePort> previous_, load_previous_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MpiSession& session, const MpiOptions& options) {
  constexpr std::size_t limit = (std::size_t{1} << 30) - 1;
  if (options.chunk_bytes < 1 || options.chunk_bytes > limit) {
    throw UsageError(cat("mpi: messages of at most ", options.chunk_bytes, " bytes; it must be between 1 and ", limit));
  }
  const Clock::time_point deadline = deadline_after(options.start_timeout);
  HeartbeatOptions heartbeat = options.heartbeat;
  heartbeat.start_timeout = options.start_timeout;
  const auto beating = session.heartbeat(heartbeat);
  MpiDeviceAnswer device_memory =
      try_mpi_device_memory(session, options.device, options.device_memory, options.start_timeout);
  return std::make_unique<MpiTransport>(session, options.chunk_bytes, deadline, beating, std::move(device_memory));
}

}  // namespace dsea
