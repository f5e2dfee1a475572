// A transfer by NCCL. The sender offers it: so many bytes, cut like this; a small one from host memory is in the offer
// itself. The receiver answers with its own cuts. From both lists both ends make the same batches (nccl_plan.hpp).
#include "dsea/comm/nccl_port.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "dsea/base/check.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::detail {

NcclPort::NcclPort(const NcclPortSetup& setup, bool sends)
    : sends_(sends),
      control_(setup.control),
      staging_(setup.device, setup.staging_bytes, Memory::device),
      bounce_(setup.device, std::max(setup.staging_bytes, NcclOffer::most_inlined), Memory::pinned),
      link_(setup.api, setup.device, setup.id, sends, setup.name, setup.deadline),
      stream_(setup.device, sends ? "nccl send" : "nccl receive"),
      event_(setup.device),
      staging_bytes_(setup.staging_bytes) {}

void NcclPort::accept(std::span<const Segment> segments) {
  if (!error_.empty()) throw RunError(link_.name() + ": the connection is broken");
  if (stage_ != Stage::idle) {
    throw RunError(link_.name() + ": a transfer is started before the one before it was complete");
  }
  segments_.assign(segments, link_.name());
  stream_.device().make_current();
  stage_ = Stage::agreeing;
  backoff_.reset();
}

bool NcclPort::wait_for(std::chrono::nanoseconds timeout) {
  const bool busy = stage_ != Stage::idle;
  if (!wait_uncounted(timeout)) return false;
  if (busy) count_transfer(segments_.bytes());
  return true;
}

bool NcclPort::wait_uncounted(std::chrono::nanoseconds timeout) {
  if (!error_.empty()) throw RunError(error_);
  if (stage_ == Stage::idle) return true;
  try {
    link_.settled();  // errors come by themselves too, while nothing is under way
    if (!advance(deadline_after(timeout))) return false;
  } catch (const std::exception& e) {
    error_ = e.what();
    link_.abort();
    throw;
  }
  stage_ = Stage::idle;
  ++transfers_;
  return true;
}

void NcclPort::close() noexcept {
  if (stage_ == Stage::launching || stage_ == Stage::running) link_.abort();
  link_.close();
}

bool NcclPort::advance(Clock::time_point deadline) {
  for (;;) {
    switch (stage_) {
      case Stage::agreeing:
        if (!agree(deadline)) return false;
        backoff_.reset();
        break;
      case Stage::launching:  // only now does the stream hold NCCL's work: what comes behind it must wait for that
        if (link_.settled()) {
          follow_launch();
        } else if (!pause(deadline)) {
          return false;
        }
        break;
      case Stage::running:
        link_.settled();
        if (event_.done()) {
          end_batch();
        } else if (!pause(deadline)) {
          return false;
        }
        break;
      case Stage::idle:
      case Stage::done:
        return true;
    }
  }
}

bool NcclPort::pause(Clock::time_point deadline) {
  const auto left = time_left(deadline);
  if (left.count() == 0) return false;
  std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(backoff_.next(), left));
  return true;
}

std::string NcclPort::where() const { return cat(link_.name(), ": transfer ", transfers_ + 1); }

void NcclPort::check_sizes(std::uint64_t sent, std::uint64_t expected) const {
  if (sent == expected) return;
  throw RunError(cat(where(), ": ", sent, " bytes were sent and ", expected,
                     " expected; the ranks disagree about what they exchange"));
}

void NcclPort::begin_batches(const NcclCuts& theirs) {
  DSEA_CHECK_EQ(theirs.transfer, transfers_, where(), ": out of step");
  plan_.begin(segments_.view(), theirs, staging_bytes_);
  begin_batch();
}

void NcclPort::begin_batch() {
  if (!plan_.next()) {
    stage_ = Stage::done;
    return;
  }
  auto* const staging = staging_.as<std::byte>();
  auto* const bounce = bounce_.as<std::byte>();
  std::array<NcclMessage, 2 * SegmentList::most> messages;
  std::size_t count = 0;
  for (const NcclPiece& p : plan_.batch()) {
    messages[count++] = {p.on_device ? p.data : staging + p.staged_at, p.bytes};
    if (sends_ && !p.on_device) std::memcpy(bounce + p.staged_at, p.data, p.bytes);
  }
  if (sends_ && plan_.from_host()) copy(stream_, staging, bounce, plan_.staged());
  link_.begin({messages.data(), count}, stream_);
  stage_ = Stage::launching;
}

void NcclPort::run_to_end() {
  plan_.begin({}, {}, 0);
  plan_.next();
  event_.record(stream_);
  stage_ = Stage::running;
}

void NcclPort::follow_launch() {
  if (!sends_ && plan_.from_host()) copy(stream_, bounce_.data(), staging_.data(), plan_.staged());
  event_.record(stream_);
  stage_ = Stage::running;
  backoff_.reset();
}

void NcclPort::end_batch() {
  if (!sends_) {
    for (const NcclPiece& p : plan_.batch()) {
      if (!p.on_device) std::memcpy(p.data, bounce_.as<std::byte>() + p.staged_at, p.bytes);
    }
  }
  begin_batch();
}

// ---- the sender ----

void NcclSendPort::start(std::span<const Segment> segments) {
  accept(segments);
  offer_.cuts.assign(transfers_, segments_);
  offer_.inlined = !segments_.on_device() && segments_.bytes() <= NcclOffer::most_inlined ? 1 : 0;
  if (offer_.inlined != 0) {
    const Segment into{offer_.data.data(), offer_.data.size(), false};
    copy_stream({&into, 1}, segments_.view(), {});
  } else {
    const Segment answer{&answer_, sizeof answer_, false};
    control_.from->start({&answer, 1});
  }
  const Segment offer{&offer_, sizeof offer_, false};
  control_.to->start({&offer, 1});
}

bool NcclSendPort::agree(Clock::time_point deadline) {
  if (!control_.to->wait(time_left(deadline))) return false;
  if (offer_.inlined != 0) {
    stage_ = Stage::done;
    return true;
  }
  if (!control_.from->wait(time_left(deadline))) return false;
  check_sizes(segments_.bytes(), answer_.bytes);
  begin_batches(answer_);
  return true;
}

// ---- the receiver ----

void NcclReceivePort::start(std::span<const Segment> segments) {
  accept(segments);
  const Segment offer{&offer_, sizeof offer_, false};
  control_.from->start({&offer, 1});
}

bool NcclReceivePort::agree(Clock::time_point deadline) {
  if (!control_.to->wait(time_left(deadline))) return false;  // the answer of the transfer before
  if (!control_.from->wait(time_left(deadline))) return false;
  if (offer_.inlined != 0) {
    check_sizes(offer_.cuts.bytes, segments_.bytes());
    take_inlined();
    return true;
  }
  answer_.assign(transfers_, segments_);
  const Segment answer{&answer_, sizeof answer_, false};
  control_.to->start({&answer, 1});
  if (offer_.cuts.bytes != segments_.bytes()) {  // the sender shall know it too
    static_cast<void>(control_.to->wait(std::chrono::milliseconds(100)));
  }
  check_sizes(offer_.cuts.bytes, segments_.bytes());
  begin_batches(offer_.cuts);
  return true;
}

void NcclReceivePort::take_inlined() {
  DSEA_CHECK_EQ(offer_.cuts.transfer, transfers_, where(), ": out of step");
  stage_ = Stage::done;
  auto* const bounce = bounce_.as<std::byte>();
  if (segments_.on_device()) std::memcpy(bounce, offer_.data.data(), segments_.bytes());
  std::size_t at = 0;
  for (const Segment& s : segments_.view()) {
    if (s.on_device) {
      copy(stream_, s.data, bounce + at, s.bytes);
    } else {
      std::memcpy(s.data, offer_.data.data() + at, s.bytes);
    }
    at += s.bytes;
  }
  if (!segments_.on_device()) return;
  run_to_end();
}

}  // namespace dsea::detail
