// A transfer by MPI: one first message says how many bytes follow and how the sender has cut them, and already holds
// the leading segments as far as they are small. Then comes one message for each further segment, or several for a long
// one. The receiver learns the cuts from the first message and receives each of the others straight into its own
// segments, through a derived data type where its own cuts differ.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "dsea/base/check.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/mpi_port.hpp"

namespace dsea::detail {
namespace {

constexpr int first_tag = 1;
constexpr int data_tag = 2;
constexpr std::uint64_t ahead = 4;  // every so many first messages are synchronous

class MpiSendPort final : public SendPort, public MpiPort {
 public:
  MpiSendPort(MPI_Comm communicator, int me, int other, std::size_t chunk_bytes, const Transport::Copy* device_copy)
      : MpiPort(communicator, cat("mpi: sending from rank ", me, " to rank ", other), other, device_copy),
        chunk_(chunk_bytes) {}
  // A send cannot be cancelled; one that nobody receives is left after a moment.
  ~MpiSendPort() override { abandon(std::chrono::milliseconds(200), false); }

  void start(std::span<const Segment> segments) override {
    accept(segments);
    // The leading segments of host memory that fit together go with the first message, the others by messages of their
    // own.
    std::array<std::uint64_t, SegmentList::most> cuts;
    const std::span<const Segment> all = segments_.view();
    std::size_t inlined = 0;
    std::size_t leading = 0;
    while (leading < all.size() && !all[leading].on_device && inlined + all[leading].bytes <= mpi_inline_bytes) {
      inlined += all[leading++].bytes;
    }
    for (std::size_t i = leading; i < all.size(); ++i) cuts[i - leading] = all[i].bytes;

    MpiFirstMessage& first = *first_;
    first.transfer = transfers_;
    first.bytes = segments_.bytes();
    first.chunk = chunk_;
    first.inlined = inlined;
    first.cuts = all.size() - leading;
    std::memcpy(first.rest.data(), cuts.data(), first.cuts * sizeof(std::uint64_t));
    const Segment into{first.inline_data(), inlined, false};
    copy_stream({&into, 1}, all, {});

    const auto send = transfers_ % ahead == ahead - 1 ? MPI_Issend : MPI_Isend;
    mpi_check(send(&first, static_cast<int>(first.used()), MPI_BYTE, other_, first_tag, communicator_, &first_request_),
              name_);
    plan_messages({cuts.data(), first.cuts}, inlined, chunk_);
    busy_ = true;
    backoff_.reset();
    progress();
  }

  bool wait(std::chrono::nanoseconds timeout) override {
    if (!busy_) return true;
    if (!poll(timeout, [this] { return progress(); })) return false;
    complete();
    return true;
  }

 private:
  /// Data messages are synchronous: without it a sender of middling ones could run far ahead of its receiver.
  bool progress() {
    const bool first_complete = test(first_request_);
    const bool data_complete =
        progress_messages(segments_.view(), [this](void* data, int count, MPI_Datatype type, MPI_Request* request) {
          return MPI_Issend(data, count, type, other_, data_tag, communicator_, request);
        });
    return first_complete && data_complete;
  }

  const std::size_t chunk_;
};

class MpiReceivePort final : public ReceivePort, public MpiPort {
 public:
  MpiReceivePort(MPI_Comm communicator, int me, int other, const Transport::Copy* device_copy)
      : MpiPort(communicator, cat("mpi: receiving on rank ", me, " from rank ", other), other, device_copy) {}
  // One that has not begun to arrive is cancelled at once.
  ~MpiReceivePort() override { abandon(std::chrono::seconds(1), true); }

  void start(std::span<const Segment> segments) override {
    accept(segments);
    mpi_check(
        MPI_Irecv(first_.get(), sizeof(MpiFirstMessage), MPI_BYTE, other_, first_tag, communicator_, &first_request_),
        name_);
    busy_ = true;
    first_seen_ = false;
    backoff_.reset();
  }

  bool wait(std::chrono::nanoseconds timeout) override {
    if (!busy_) return true;
    if (broken_) throw RunError(name_ + ": the connection is broken");
    if (!poll(timeout, [this] { return progress(); })) return false;
    complete();
    return true;
  }

 private:
  bool progress() {
    if (!first_seen_) {
      if (!test(first_request_)) return false;
      first_seen_ = true;
      read_first();
    }
    return progress_messages(segments_.view(), [this](void* data, int count, MPI_Datatype type, MPI_Request* request) {
      return MPI_Irecv(data, count, type, other_, data_tag, communicator_, request);
    });
  }

  void read_first() {
    MpiFirstMessage& first = *first_;
    broken_ = true;  // unless all is well
    DSEA_CHECK_EQ(first.transfer, transfers_, name_, ": out of step");
    if (first.bytes != segments_.bytes()) {
      throw RunError(cat(name_, ": transfer ", transfers_ + 1, ": ", first.bytes, " bytes were sent and ",
                         segments_.bytes(), " expected; the ranks disagree about what they exchange"));
    }
    DSEA_CHECK(first.cuts <= SegmentList::most && first.inlined <= mpi_inline_bytes, name_, ": no first message");
    std::array<std::uint64_t, SegmentList::most> cuts;
    std::memcpy(cuts.data(), first.rest.data(), first.cuts * sizeof(std::uint64_t));
    const Segment inlined{first.inline_data(), first.inlined, false};
    copy_stream(segments_.view(), {&inlined, 1}, device_copy_ != nullptr ? *device_copy_ : Transport::Copy{});
    plan_messages({cuts.data(), first.cuts}, first.inlined, first.chunk);
    broken_ = false;
  }

  bool first_seen_ = false;
};

}  // namespace

std::unique_ptr<SendPort> make_mpi_send_port(MPI_Comm communicator, int me, int other, std::size_t chunk_bytes,
                                             const Transport::Copy* device_copy) {
  return std::make_unique<MpiSendPort>(communicator, me, other, chunk_bytes, device_copy);
}

std::unique_ptr<ReceivePort> make_mpi_receive_port(MPI_Comm communicator, int me, int other,
                                                   const Transport::Copy* device_copy) {
  return std::make_unique<MpiReceivePort>(communicator, me, other, device_copy);
}

}  // namespace dsea::detail
