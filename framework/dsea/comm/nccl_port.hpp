// The two ends of a link of the ring that NCCL serves. For nccl_*.cpp only.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dsea/base/backoff.hpp"
#include "dsea/comm/nccl_link.hpp"
#include "dsea/comm/nccl_plan.hpp"
#include "dsea/comm/nccl_transport.hpp"
#include "dsea/comm/traffic.hpp"
#include "dsea/device/buffer.hpp"
#include "dsea/device/event.hpp"

namespace dsea::detail {

/// What the sender says of a transfer before it begins. Below 3 KiB, which transports send at once.
struct NcclOffer {
  static constexpr std::size_t most_inlined = 2048;
  NcclCuts cuts;
  std::uint64_t inlined = 0;  ///< 1: all bytes are here, and NCCL has nothing to do
  std::array<std::byte, most_inlined> data{};
};

struct NcclPortSetup {
  const NcclApi& api;
  const Device& device;
  const NcclUniqueId& id;
  std::string name;  ///< "nccl: sending from rank 0 to rank 1"
  NcclControl control;
  std::size_t staging_bytes;  ///< a multiple of NcclPlan::alignment
  Clock::time_point deadline;
};

/// What both ends share. A transfer's life: the ends agree (over the control connection, where waiting costs the GPU
/// nothing), then batches follow each other: NCCL's calls, its work in the stream, the copies around it, the event
/// behind them. No kernel of NCCL is launched before both ends are ready for it, so none waits on the GPU for long.
class NcclPort : public TrafficCounter {
 public:
  NcclPort(const NcclPortSetup& setup, bool sends);
  ~NcclPort() override { close(); }

  /// As wait(), but the transfer is not counted: for the first one, which only tries the connection.
  bool wait_uncounted(std::chrono::nanoseconds timeout);

  /// Ends the connection: nothing of it is left on the GPU. To be called for all ports before device memory is freed.
  void close() noexcept;

 protected:
  enum class Stage { idle, agreeing, launching, running, done };

  void accept(std::span<const Segment> segments);
  bool wait_for(std::chrono::nanoseconds timeout);

  /// Talks with the other end until the deadline; true once `stage_` has moved on.
  virtual bool agree(Clock::time_point deadline) = 0;

  /// Both ends are ready. Throws RunError if their sizes differ.
  void begin_batches(const NcclCuts& theirs);
  /// What is in the stream is the last of this transfer.
  void run_to_end();
  void check_sizes(std::uint64_t sent, std::uint64_t expected) const;
  std::string where() const;

  const bool sends_;
  const NcclControl control_;
  SegmentList segments_;
  NcclOffer offer_;
  NcclCuts answer_;
  Stage stage_ = Stage::idle;
  std::uint64_t transfers_ = 0;  // completed
  // The order matters: the stream waits for its work when it goes, so the link goes after it was closed.
  Buffer staging_;  // on the device
  Buffer bounce_;   // the same, pinned, on the host
  NcclLink link_;
  Stream stream_;
  Event event_;

 private:
  bool advance(Clock::time_point deadline);
  bool pause(Clock::time_point deadline);
  void begin_batch();
  void follow_launch();
  void end_batch();

  const std::size_t staging_bytes_;
  NcclPlan plan_;
  Backoff backoff_;
  std::string error_;  // after it nothing goes through
};

class NcclSendPort final : public SendPort, public NcclPort {
 public:
  explicit NcclSendPort(const NcclPortSetup& setup) : NcclPort(setup, true) {}
  void start(std::span<const Segment> segments) override;
  bool wait(std::chrono::nanoseconds timeout) override { return wait_for(timeout); }

 private:
  bool agree(Clock::time_point deadline) override;
};

class NcclReceivePort final : public ReceivePort, public NcclPort {
 public:
  explicit NcclReceivePort(const NcclPortSetup& setup) : NcclPort(setup, false) {}
  void start(std::span<const Segment> segments) override;
  bool wait(std::chrono::nanoseconds timeout) override { return wait_for(timeout); }

 private:
  bool agree(Clock::time_point deadline) override;
  void take_inlined();
};

}  // namespace dsea::detail
