// The receiving side. It takes the chunks of its transfer from whatever rail they come by, straight into the segments,
// and acknowledges the transfer. Chunks that come a second time, after a rail was lost, go nowhere.
#include <array>
#include <cstring>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/ucx_ports.hpp"

namespace dsea::detail {
namespace {

class UcxReceivePort final : public ReceivePort, public UcxPort {
 public:
  UcxReceivePort(UcxRails rails, UcxPortOptions options)
      : UcxPort(std::move(rails), std::move(options)),
        flights_(rails_.size()),
        there_due_(rails_.size()),
        closed_due_(rails_.size(), false) {
    start_thread();
  }
  ~UcxReceivePort() override {
    stop_thread();
    abandon_all();
  }

  void start(std::span<const Segment> segments) override { start_transfer(segments); }
  bool wait(std::chrono::nanoseconds timeout) override { return wait_for(timeout); }

 private:
  enum class Chunk : std::uint8_t { missing, coming, here };
  struct Flight {
    UcxMessage message;
    std::uint64_t tag = 0;
    std::size_t bytes = 0;
    bool nowhere = false;  // it is here already, or belongs to an earlier transfer
    std::array<std::byte, ucx_small> text;
  };

  std::uint64_t done() const { return transfers_ + (busy_ && complete_ ? 1 : 0); }

  void begin() override {
    length_known_ = is_small();
    missing_ = length_known_ ? 1 : chunks_.count();
    states_.assign(missing_, Chunk::missing);
  }

  bool look_at(std::size_t r) override {
    bool moved = false;
    while (const auto letter = rails_[r]->take_small(ucx_any_control)) {
      moved = true;
      answer(r, *letter);
      if (!rails_[r]) return true;
    }
    for (Flight& flight : flights_[r]) {
      if (flight.message.request != nullptr) {
        if (!rails_[r]->test(flight.message)) continue;
        landed(r, flight);
        moved = true;
      }
      while (flight.message.request == nullptr && take_next(r, flight)) moved = true;
    }
    return moved;
  }

  void answer(std::size_t r, const UcxRail::Small& letter) {
    latest_ = r;
    if (ucx_kind(letter.tag) == UcxKind::ping) send_small(r, UcxKind::pong, done(), 0);
    if (ucx_kind(letter.tag) != UcxKind::close) return;
    const std::size_t given_up = ucx_number(letter.tag);
    if (given_up >= rails_.size()) return;
    if (rails_[given_up])
      lose(given_up, rails_[given_up]->name() + " was given up by the sender: it got no answer by it");
    closed_due_[given_up] = true;
  }

  bool take_next(std::size_t r, Flight& flight) {
    if (busy_ && !complete_ && take(r, flight, transfers_)) return true;
    if (scratch_.empty()) return false;
    // Some rail was lost: what was sent again although it had arrived.
    for (std::uint64_t t = done(); t > 0 && done() - t <= ahead; --t) {
      if (take(r, flight, t - 1)) return true;
    }
    return false;
  }

  bool take(std::size_t r, Flight& flight, std::uint64_t transfer) {
    const auto incoming = rails_[r]->take(ucx_any_of_transfer(transfer));
    if (!incoming) return false;
    flight.tag = incoming->tag;
    flight.bytes = incoming->bytes;
    flight.nowhere = transfer < done();
    flight.message.clear();
    const std::size_t chunk = ucx_number(incoming->tag);
    if (ucx_kind(incoming->tag) != UcxKind::chunk) {
      if (incoming->bytes > ucx_small) disagree(incoming->bytes);
      flight.message.add(flight.text.data(), incoming->bytes);
    } else if (!flight.nowhere) {
      if (is_small() || chunk >= states_.size() || incoming->bytes != chunks_.length(chunk)) {
        disagree(incoming->bytes);
      }
      flight.nowhere = states_[chunk] != Chunk::missing;
    }
    if (flight.message.count == 0) {
      if (flight.nowhere) {
        flight.message.add(scratch_.data(), incoming->bytes);
      } else {
        chunk_pieces(flight.message, chunk);
        states_[chunk] = Chunk::coming;
      }
    }
    rails_[r]->receive(flight.message, *incoming);
    if (flight.message.request == nullptr) landed(r, flight);
    return true;
  }

  void landed(std::size_t r, Flight& flight) {
    latest_ = r;
    count_move();
    count_rail_bytes(r, flight.bytes);
    if (flight.nowhere || !ucx_is_of(flight.tag, transfers_)) {
      acknowledge_due_ = true;  // its sender does not know yet
      return;
    }
    switch (ucx_kind(flight.tag)) {
      case UcxKind::small: {
        if (flight.bytes != segments_.bytes()) disagree(flight.bytes);
        const Segment from{flight.text.data(), flight.bytes, false};
        copy_stream(segments_.view(), {&from, 1}, {});
        missing_ = 0;
        break;
      }
      case UcxKind::first: {
        std::uint64_t bytes = 0;
        if (flight.bytes == sizeof bytes) std::memcpy(&bytes, flight.text.data(), sizeof bytes);
        if (bytes != segments_.bytes()) disagree(bytes);
        length_known_ = true;
        break;
      }
      default:
        states_[ucx_number(flight.tag)] = Chunk::here;
        --missing_;
        there_due_[r].push_back(ucx_number(flight.tag));
    }
  }

  [[noreturn]] void disagree(std::uint64_t sent) const {
    throw RunError(cat(options_.name, ": transfer ", transfers_ + 1, ": ", sent, " bytes were sent and ",
                       segments_.bytes(), " expected; the ranks disagree about what they exchange"));
  }

  bool advance() override {
    bool moved = false;
    if (busy_ && !complete_ && missing_ == 0 && length_known_) {
      for (auto& due : there_due_) due.clear();  // the acknowledgement says it all
      complete();
      acknowledge_due_ = true;
      moved = true;
    }
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      if (rails_[r]) say_what_is_there(r);
    }
    if (acknowledge_due_ && say(UcxKind::acknowledge, 0)) acknowledge_due_ = false;
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      if (closed_due_[r] && say(UcxKind::closed, r)) closed_due_[r] = false;
    }
    return moved;
  }

  void say_what_is_there(std::size_t r) {
    auto& due = there_due_[r];
    try {
      while (!due.empty() && send_small(r, UcxKind::there, done(), due.back())) due.pop_back();
    } catch (const UcxRailError& e) {
      lose(r, e.what());
    }
  }

  /// By the rail by which something came last, or another one.
  bool say(UcxKind kind, std::uint64_t number) {
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      const std::size_t r = (latest_ + i) % rails_.size();
      try {
        if (rails_[r] && send_small(r, kind, done(), number)) return true;
      } catch (const UcxRailError& e) {
        lose(r, e.what());
      }
    }
    return false;
  }

  void rail_is_lost(std::size_t r) override {
    for (Flight& flight : flights_[r]) {
      if (flight.message.request == nullptr) continue;
      rails_[r]->abandon(flight.message);
      if (!flight.nowhere && ucx_kind(flight.tag) == UcxKind::chunk) states_[ucx_number(flight.tag)] = Chunk::missing;
    }
    there_due_[r].clear();
    closed_due_[r] = true;
    scratch_.resize(options_.longest_chunk);
  }

  void abandon_all() {
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      for (Flight& flight : flights_[r]) {
        if (rails_[r]) rails_[r]->abandon(flight.message);
      }
    }
  }

  std::vector<std::array<Flight, most_under_way>> flights_;  // by rail
  std::vector<Chunk> states_;
  std::size_t missing_ = 0;
  bool length_known_ = false;  // the sender's, which is the same
  bool acknowledge_due_ = false;
  std::vector<std::vector<std::size_t>> there_due_;  // chunks, by the rail they came by
  std::vector<bool> closed_due_;
  std::size_t latest_ = 0;          // the rail by which something came last
  std::vector<std::byte> scratch_;  // where chunks go that are here already; only after a loss
};

}  // namespace

UcxPortOf<ReceivePort> make_ucx_receive_port(UcxRails rails, UcxPortOptions options) {
  auto port = std::make_unique<UcxReceivePort>(std::move(rails), std::move(options));
  UcxPort* const shared = port.get();
  return {std::move(port), shared};
}

}  // namespace dsea::detail
