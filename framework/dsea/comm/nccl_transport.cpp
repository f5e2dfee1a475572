#include "dsea/comm/nccl_transport.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/nccl_gpus.hpp"
#include "dsea/comm/nccl_port.hpp"

namespace dsea {
namespace {

using detail::NcclPlan;
using detail::NcclPort;
using detail::NcclPortSetup;
using detail::NcclReceivePort;
using detail::NcclSendPort;

/// A rank makes the communicator of its link; one that cannot says so to the others, who wait for it.
struct LinkId {
  NcclUniqueId id;
  std::int32_t result = nccl_success;
};

std::vector<LinkId> exchange_ids(const NcclWorld& world, const NcclApi& api) {
  LinkId mine;
  mine.result = api.get_unique_id(&mine.id);
  const auto all = world.exchange(std::as_bytes(std::span(&mine, 1)));
  std::vector<LinkId> ids(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].size() == sizeof(LinkId)) {
      std::memcpy(&ids[r], all[r].data(), sizeof(LinkId));
    } else {
      ids[r].result = -1;
    }
    if (ids[r].result == nccl_success) continue;
    const char* const text = api.get_error_string(ids[r].result);
    throw RunError(cat("nccl: rank ", r, " cannot make the id of a communicator: ",
                       text != nullptr ? text : "unknown error", "; NCCL_DEBUG=INFO makes NCCL say more"));
  }
  return ids;
}

class NcclTransport final : public Transport {
 public:
  NcclTransport(NcclWorld world, const Device& device, const NcclApi& api, const NcclOptions& options)
      : world_(std::move(world)), version_(api.version), library_(api.library), staging_(rounded(options)) {
    detail::demand_one_gpu_each(device, world_.exchange);
    if (size() == 1) return;
    const std::vector<LinkId> ids = exchange_ids(world_, api);
    const Clock::time_point deadline = deadline_after(options.start_timeout);
    const int previous_rank = (rank() + size() - 1) % size();
    const auto setup = [&](int link, std::string name, NcclControl control) {
      return NcclPortSetup{api,      device,  ids[static_cast<std::size_t>(link)].id, std::move(name), control,
                           staging_, deadline};
    };
    for (const int link : my_links()) {
      if (link == rank()) {
        const std::string name = cat("nccl: sending from rank ", rank(), " to rank ", (rank() + 1) % size());
        next_.emplace(setup(link, name, world_.next));
      } else {
        const std::string name = cat("nccl: receiving on rank ", rank(), " from rank ", previous_rank);
        previous_.emplace(setup(link, name, world_.previous));
      }
    }
    try {
      try_connections(deadline);
    } catch (...) {
      close_ports();
      throw;
    }
  }

  ~NcclTransport() override { close_ports(); }

  std::string name() const override { return "nccl"; }
  int rank() const override { return world_.base->rank(); }
  int size() const override { return world_.base->size(); }
  std::string describe() const override {
    const std::string base = world_.base->name();
    return cat("nccl: NCCL ", version_, " (", library_, "), ", size(), size() == 1 ? " rank" : " ranks",
               " with a GPU each; device memory goes straight by NCCL, host memory through ",
               bytes_text(static_cast<double>(staging_)), " of device memory a port, up to ",
               bytes_text(detail::NcclOffer::most_inlined), " of it and agreements by ", base,
               "; loading and reports by ", base);
  }
  bool takes_device_memory() const override { return true; }
  void set_copy(Copy copy) override { world_.base->set_copy(std::move(copy)); }

  SendPort& to_next() override { return existing(next_, "to_next()"); }
  ReceivePort& from_previous() override { return existing(previous_, "from_previous()"); }
  SendPort& load_to_next() override { return world_.base->load_to_next(); }
  ReceivePort& load_from_previous() override { return world_.base->load_from_previous(); }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                             std::chrono::nanoseconds timeout) override {
    return world_.base->gather(mine, timeout);
  }
  void finish(std::chrono::nanoseconds timeout) override { world_.base->finish(timeout); }
  bool in_one_process() const override { return world_.base->in_one_process(); }
  bool peer_failed() const override { return world_.base->peer_failed(); }
  std::string failure() const override { return world_.base->failure(); }
  void check_load_to_next() override { world_.base->check_load_to_next(); }
  std::string who() const override { return world_.base->who(); }
  void fail(int exit_code, const std::string& why) noexcept override { world_.base->fail(exit_code, why); }

 private:
  static std::size_t rounded(const NcclOptions& options) {
    constexpr std::size_t step = 64;
    static_assert(step % NcclPlan::alignment == 0);
    return std::max(step, (options.staging_bytes + step - 1) / step * step);
  }

  /// The two links of this rank, in the one order in which all ranks make and end theirs: even links, odd links, both
  /// by number. Neighbouring links differ, so that many are made at a time, and no two ranks wait for each other. Link
  /// l leads from rank l to the next.
  std::vector<int> my_links() const {
    if (size() == 1) return {};
    std::vector<int> links{rank(), (rank() + size() - 1) % size()};
    std::sort(links.begin(), links.end(), [](int a, int b) { return std::pair(a % 2, a) < std::pair(b % 2, b); });
    return links;
  }

  /// Both before the memory of one is freed: CUDA frees none while something runs that waits for another rank.
  void close_ports() noexcept {
    for (const int link : my_links()) {
      if (link == rank() && next_) next_->close();
      if (link != rank() && previous_) previous_->close();
    }
  }

  /// NCCL connects two GPUs when the first bytes go between them, which takes long and allocates memory: now.
  void try_connections(Clock::time_point deadline) {
    constexpr std::size_t bytes = detail::NcclOffer::most_inlined + 1;
    std::array<unsigned char, bytes> out{}, in{};
    for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<unsigned char>(i * 7 + 1);
    const Segment from{out.data(), bytes, false}, to{in.data(), bytes, false};
    next_->start({&from, 1});
    previous_->start({&to, 1});
    const auto turn = std::chrono::milliseconds(1);
    for (bool sent = false, received = false; !sent || !received;) {
      sent = sent || next_->wait_uncounted(turn);
      received = received || previous_->wait_uncounted(turn);
      if (time_left(deadline).count() > 0 || (sent && received)) continue;
      const char* const what = received ? "nothing arrived at the next rank" : "nothing came from the rank before";
      throw RunError(cat("nccl: rank ", rank(), " of ", size(), ": ", what,
                         " in the first transfer; NCCL_DEBUG=INFO makes NCCL say more"));
    }
    if (in != out) {
      throw RunError(cat("nccl: rank ", rank(), " of ", size(),
                         ": the first transfer brought other bytes than were sent: NCCL does not work here"));
    }
  }

  template <class Port>
  Port& existing(std::optional<Port>& port, const char* what) const {
    if (!port) throw RunError(cat("nccl: rank ", rank(), " of ", size(), " has no port ", what));
    return *port;
  }

  // The order matters: ports go before what they refer to.
  NcclWorld world_;
  const std::string version_, library_;
  const std::size_t staging_;
  std::optional<NcclSendPort> next_;
  std::optional<NcclReceivePort> previous_;
};

}  // namespace

std::unique_ptr<Transport> make_nccl_transport(NcclWorld world, const Device& device, const NcclApi& api,
                                               const NcclOptions& options) {
  detail::demand_gpu(device);
  return std::make_unique<NcclTransport>(std::move(world), device, api, options);
}

}  // namespace dsea
