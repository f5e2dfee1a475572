// What the two directions of an MPI connection share; for mpi_ports.cpp only, since it includes mpi.h.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "dsea/base/backoff.hpp"
#include "dsea/base/error.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/mpi_detail.hpp"
#include "dsea/comm/segments.hpp"
#include "dsea/comm/traffic.hpp"

namespace dsea::detail {

inline constexpr std::size_t mpi_window = 8;              // messages under way at a time
inline constexpr std::size_t mpi_inline_bytes = 3 << 10;  // with the rest of the first message below every eager limit

/// The first message. Its `used()` leading bytes are sent.
struct MpiFirstMessage {
  std::uint64_t transfer;  // counted from 0
  std::uint64_t bytes;     // of the whole transfer
  std::uint64_t chunk;     // longest data message
  std::uint64_t inlined;   // bytes at the end of this message
  std::uint64_t cuts;      // segments that come as data messages
  // The sizes of those segments, then the inlined bytes.
  std::array<std::byte, SegmentList::most * sizeof(std::uint64_t) + mpi_inline_bytes> rest;

  std::size_t used() const { return offsetof(MpiFirstMessage, rest) + cuts * sizeof(std::uint64_t) + inlined; }
  std::byte* inline_data() { return rest.data() + cuts * sizeof(std::uint64_t); }
};

/// What both directions share: the requests of the data messages.
class MpiPort : public TrafficCounter {
 protected:
  MpiPort(MPI_Comm communicator, std::string name, int other, const Transport::Copy* device_copy)
      : communicator_(communicator),
        name_(std::move(name)),
        other_(other),
        device_copy_(device_copy),
        first_(std::make_unique<MpiFirstMessage>()) {
    requests_.fill(MPI_REQUEST_NULL);
  }

  /// Ends what is under way for at most this long, then leaves it to MPI together with the memory of the first message.
  void abandon(std::chrono::nanoseconds patience, bool cancel) noexcept {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    bool left_over = false;
    const Clock::time_point deadline = deadline_after(patience);
    const auto end = [&](MPI_Request& request) {
      if (request == MPI_REQUEST_NULL) return;
      try {
        if (cancel) MPI_Cancel(&request);
        if (mpi_poll(request, name_, deadline)) return;
      } catch (const std::exception&) {
        // A request that fails is not under way any more, or cannot be helped.
      }
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
      left_over = true;
    };
    end(first_request_);
    for (MPI_Request& request : requests_) end(request);
    if (left_over) static_cast<void>(first_.release());
  }

  /// True if the request is complete, also if there is none.
  bool test(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return true;
    int done = 0;
    mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), name_);
    if (done == 0) return false;
    moved_ = true;
    count_move();
    return true;
  }

  /// Lays out the data messages; `begin` is where they start in the stream.
  void plan_messages(std::span<const std::uint64_t> cuts, std::size_t begin, std::size_t chunk) {
    cut_count_ = cuts.size();
    for (std::size_t i = 0; i < cuts.size(); ++i) cuts_[i] = static_cast<std::size_t>(cuts[i]);
    cut_ = 0;
    in_cut_ = 0;
    position_ = begin;
    chunk_ = chunk;
  }

  /// Tests the messages under way and begins as many as possible; true when all are complete. `begin_message` is given
  /// buffer, count, type and request and returns MPI's code.
  template <class Begin>
  bool progress_messages(std::span<const Segment> segments, Begin begin_message) {
    bool all_complete = true;
    for (MPI_Request& request : requests_) {
      if (!test(request)) {
        all_complete = false;
        continue;
      }
      if (cut_ == cut_count_) continue;
      const std::size_t bytes = std::min(chunk_, cuts_[cut_] - in_cut_);
      begin_range(segments, position_, bytes, request, begin_message);
      all_complete = false;
      moved_ = true;
      position_ += bytes;
      in_cut_ += bytes;
      if (in_cut_ == cuts_[cut_]) ++cut_, in_cut_ = 0;
    }
    return all_complete;
  }

  /// Calls `progress` until it is true or time is up, asleep in between.
  template <class Progress>
  bool poll(std::chrono::nanoseconds timeout, Progress progress) {
    const Clock::time_point deadline = deadline_after(timeout);
    for (;;) {
      moved_ = false;
      if (progress()) return true;
      if (moved_) {
        backoff_.reset();
        continue;
      }
      const auto left = time_left(deadline);
      if (left.count() == 0) return false;
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(backoff_.next(), left));
    }
  }

  void accept(std::span<const Segment> segments) {
    if (broken_) throw RunError(name_ + ": the connection is broken");
    if (busy_) throw RunError(name_ + ": a transfer is started before the one before it was complete");
    segments_.assign(segments, name_);
    count_start();
    if (!segments_.on_device()) return;
    if (device_copy_ == nullptr) throw RunError(name_ + ": device memory must be staged through the host");
    if (!*device_copy_) throw RunError(name_ + ": device memory is used, but set_copy() was not called");
  }

  void complete() {
    busy_ = false;
    ++transfers_;
    count_transfer(segments_.bytes());
  }

  const MPI_Comm communicator_;
  const std::string name_;
  const int other_;
  const Transport::Copy* const device_copy_;  // null: no device memory
  std::unique_ptr<MpiFirstMessage> first_;
  MPI_Request first_request_ = MPI_REQUEST_NULL;
  SegmentList segments_;
  std::uint64_t transfers_ = 0;  // completed
  bool busy_ = false;
  bool broken_ = false;
  bool moved_ = false;  // something happened since the last look
  Backoff backoff_;

 private:
  /// One message for a range of the stream.
  template <class Begin>
  void begin_range(std::span<const Segment> segments, std::size_t begin, std::size_t bytes, MPI_Request& request,
                   Begin begin_message) {
    std::array<int, SegmentList::most> lengths;
    std::array<MPI_Aint, SegmentList::most> addresses;
    int pieces = 0;
    int on_device = 0;
    void* data = nullptr;
    for_each_piece_of_range(segments, begin, bytes, [&](const Segment& piece) {
      const auto i = static_cast<std::size_t>(pieces++);
      if (i == 0) data = piece.data;
      on_device += piece.on_device ? 1 : 0;
      lengths[i] = static_cast<int>(piece.bytes);  // no longer than a chunk
      MPI_Get_address(piece.data, &addresses[i]);
    });
    if (pieces == 1) {
      mpi_check(begin_message(data, static_cast<int>(bytes), MPI_BYTE, &request), name_);
      return;
    }
    if (on_device > 0 && on_device < pieces) {
      throw RunError(name_ +
                     ": a segment of the sender meets both host and device memory here, which MPI cannot fill "
                     "by one message: both ends must change between the two at the same byte");
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi_check(MPI_Type_create_hindexed(pieces, lengths.data(), addresses.data(), MPI_BYTE, &type), name_);
    int code = MPI_Type_commit(&type);
    if (code == MPI_SUCCESS) code = begin_message(MPI_BOTTOM, 1, type, &request);
    MPI_Type_free(&type);  // lives on until the message is complete
    mpi_check(code, name_);
  }

  std::array<MPI_Request, mpi_window> requests_;
  std::array<std::size_t, SegmentList::most> cuts_;
  std::size_t cut_count_ = 0;
  std::size_t cut_ = 0;       // the next message begins in this one,
  std::size_t in_cut_ = 0;    // so many bytes from its start
  std::size_t position_ = 0;  // and here in the whole stream
  std::size_t chunk_ = 0;
};

}  // namespace dsea::detail
