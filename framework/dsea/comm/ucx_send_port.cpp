// The sending side. Chunks take whatever rail has room; a transfer is complete when the receiver has acknowledged it. A
// rail that is silent is pinged; one that stays silent while others answer is given up, and what it had is sent again
// over the others, once the receiver has closed it as well.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/rail_watch.hpp"
#include "dsea/comm/ucx_ports.hpp"

namespace dsea::detail {
namespace {

constexpr std::size_t none = ~std::size_t{0};
constexpr std::uint8_t on_no_rail = 255;
constexpr std::uint8_t arrived = 254;

class UcxSendPort final : public SendPort, public UcxPort {
 public:
  UcxSendPort(UcxRails rails, UcxPortOptions options)
      : UcxPort(std::move(rails), std::move(options)),
        state_(rails_.size()),
        watch_(rails_.size(), options_.link_timeout) {
    start_thread();
  }
  ~UcxSendPort() override {
    stop_thread();
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      for (Flight& flight : state_[r].flights) {
        if (rails_[r]) rails_[r]->abandon(flight.message);
      }
    }
  }

  void start(std::span<const Segment> segments) override { start_transfer(segments); }
  bool wait(std::chrono::nanoseconds timeout) override { return wait_for(timeout); }

 private:
  struct Flight {
    UcxMessage message;
    std::size_t chunk = none;  // none: there is nothing under way
    std::size_t bytes = 0;
    bool there = false;  // the receiver has it
  };
  struct Rail {
    std::array<Flight, most_under_way> flights;
    bool told = true;  // the receiver knows that it is lost
    Clock::time_point told_at{};
  };
  /// A short transfer, kept until the receiver has it.
  struct Kept {
    std::uint64_t transfer = 0;
    std::size_t bytes = none;
    std::uint8_t rail = on_no_rail;  // by which it was sent
    std::array<std::byte, ucx_small> text;
  };

  Kept& kept(std::uint64_t transfer) { return kept_[transfer % ahead]; }
  bool has_room() const { return transfers_ < acknowledged_ + ahead; }

  void begin() override {
    if (is_small()) return;  // kept as soon as there is room
    first_rail_ = on_no_rail;
    next_ = 0;
    again_.clear();
    rail_of_.assign(chunks_.count(), on_no_rail);
  }

  bool look_at(std::size_t r) override {
    Rail& rail = state_[r];
    bool moved = false;
    while (const auto letter = rails_[r]->take_small(ucx_any_control)) {
      moved = true;
      watch_.heard(r, Clock::now());
      count_move();
      acknowledged_ = std::max(acknowledged_, ucx_transfer(letter->tag));
      if (ucx_kind(letter->tag) == UcxKind::closed) closed_by_receiver(ucx_number(letter->tag));
      if (ucx_kind(letter->tag) == UcxKind::there) is_there(rail, *letter);
      if (!rails_[r]) return true;  // it was this one
    }
    const bool all_there = acknowledged_ > transfers_;
    for (Flight& flight : rail.flights) {
      if (flight.chunk == none || !rails_[r]->test(flight.message) || !(flight.there || all_there)) continue;
      watch_.sent(r, Clock::now());
      count_move();
      count_rail_bytes(r, flight.bytes);
      rail_of_[flight.chunk] = arrived;
      flight.chunk = none;
      moved = true;
    }
    return moved;
  }

  void is_there(Rail& rail, const UcxRail::Small& letter) {
    if (!ucx_is_of(letter.tag, transfers_)) return;  // acknowledged meanwhile
    for (Flight& flight : rail.flights) flight.there = flight.there || flight.chunk == ucx_number(letter.tag);
  }

  bool advance() override {
    bool moved = keep_small();
    for (std::uint64_t t = acknowledged_; t < kept_end_; ++t) {
      if (is_kept(t) && kept(t).rail == on_no_rail) moved = send_kept(kept(t)) || moved;
    }
    if (busy_ && !complete_ && !is_small()) {
      moved = send_first() || moved;
      for (bool more = true; more;) {  // in turn: where chunks are complete at once, the first rail would take all
        more = false;
        for (std::size_t r = 0; r < rails_.size(); ++r) more = (rails_[r] && send_chunk(r)) || more;
        moved = moved || more;
      }
      if (acknowledged_ > transfers_ && !anything_under_way()) {
        complete();
        moved = true;
      }
    }
    watch_rails();
    return moved;
  }

  bool is_kept(std::uint64_t transfer) const {
    return kept_[transfer % ahead].bytes != none && kept_[transfer % ahead].transfer == transfer;
  }

  bool keep_small() {
    if (!busy_ || complete_ || !is_small() || !has_room()) return false;
    Kept& k = kept(transfers_);
    k.transfer = transfers_;
    k.bytes = segments_.bytes();
    k.rail = on_no_rail;
    const Segment into{k.text.data(), k.bytes, false};
    copy_stream({&into, 1}, segments_.view(), {});
    kept_end_ = transfers_ + 1;
    complete();
    return true;
  }

  bool send_kept(Kept& k) {
    return by_some_rail([&](std::size_t r) {
      if (!send_small(r, UcxKind::small, k.transfer, 0, {k.text.data(), k.bytes})) return false;
      k.rail = static_cast<std::uint8_t>(r);
      count_rail_bytes(r, k.bytes);
      return true;
    });
  }

  bool send_first() {
    if (first_rail_ != on_no_rail) return false;
    const std::uint64_t bytes = chunks_.bytes;
    return by_some_rail([&](std::size_t r) {
      if (!send_small(r, UcxKind::first, transfers_, 0, std::as_bytes(std::span(&bytes, 1)))) return false;
      first_rail_ = static_cast<std::uint8_t>(r);
      return true;
    });
  }

  /// use(rail) for the live rail that was heard of last, if need be for the others, until it is true.
  template <class Use>
  bool by_some_rail(Use use) {
    const std::size_t best = watch_.best();
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      const std::size_t r = (best + i) % rails_.size();
      try {
        if (rails_[r] && use(r)) return true;
      } catch (const UcxRailError& e) {
        lose(r, e.what());
      }
    }
    return false;
  }

  /// The next chunk over this rail, if there is one and the rail has room.
  bool send_chunk(std::size_t r) {
    auto& flights = state_[r].flights;
    const auto end = flights.begin() + static_cast<std::ptrdiff_t>(options_.window);
    const auto flight = std::find_if(flights.begin(), end, [](const Flight& f) { return f.chunk == none; });
    if (flight == end || (again_.empty() && next_ == chunks_.count())) return false;
    std::size_t chunk = next_;
    if (again_.empty()) {
      ++next_;
    } else {
      chunk = again_.back();
      again_.pop_back();
    }
    try {
      if (options_.breaks && options_.breaks(r, transfers_, chunk)) {
        throw UcxRailError(rails_[r]->name() + ": broken on purpose");
      }
      chunk_pieces(flight->message, chunk);
      rails_[r]->send(flight->message, ucx_tag(UcxKind::chunk, transfers_, chunk), true);
      flight->chunk = chunk;
      flight->bytes = chunks_.length(chunk);
      flight->there = false;
      rail_of_[chunk] = static_cast<std::uint8_t>(r);
    } catch (const UcxRailError& e) {
      again_.push_back(chunk);
      lose(r, e.what());
    }
    return true;
  }

  bool anything_under_way() const {
    const auto under_way = [](const Flight& flight) { return flight.chunk != none; };
    return std::any_of(state_.begin(), state_.end(), [&](const Rail& rail) {
      return std::any_of(rail.flights.begin(), rail.flights.end(), under_way);
    });
  }

  void rail_is_lost(std::size_t r) override {
    Rail& rail = state_[r];
    for (Flight& flight : rail.flights) {
      rails_[r]->abandon(flight.message);
      flight.chunk = none;
    }
    rail.told = false;
    rail.told_at = {};
    watch_.lost(r);
  }

  /// Now nothing can arrive by this rail any more, so what it had goes another way.
  void closed_by_receiver(std::size_t r) {
    if (r >= rails_.size() || (!rails_[r] && state_[r].told)) return;
    if (rails_[r]) lose(r, rails_[r]->name() + " was closed by the receiver: its connection broke there");
    state_[r].told = true;
    for (Kept& k : kept_) {
      if (k.rail == r) k.rail = on_no_rail;
    }
    if (!busy_ || complete_ || is_small()) return;
    if (first_rail_ == r) first_rail_ = on_no_rail;
    for (std::size_t c = 0; c < rail_of_.size(); ++c) {
      if (rail_of_[c] != r) continue;
      rail_of_[c] = on_no_rail;
      again_.push_back(c);
    }
  }

  /// Pings rails that are silent, gives up those that stay so, and has the receiver close them.
  void watch_rails() {
    const Clock::time_point now = Clock::now();
    const bool waits = (busy_ && !complete_) || acknowledged_ < kept_end_;
    watch_.look(waits, now);
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      Rail& rail = state_[r];
      if (!rails_[r]) {
        if (rail.told || now - rail.told_at < RailWatch::ping_after) continue;
        by_some_rail([&](std::size_t by) { return send_small(by, UcxKind::close, transfers_, r); });
        rail.told_at = now;
      } else if (watch_.wants_ping(r, now)) {
        try {
          if (send_small(r, UcxKind::ping, transfers_, 0)) watch_.pinged(r, now);
        } catch (const UcxRailError& e) {
          lose(r, e.what());
        }
      } else if (watch_.is_dead(r, now)) {
        lose(r, cat("it has not answered for ", text_of(options_.link_timeout / 2), " while others have"));
      }
    }
    if (!watch_.all_silent(now)) return;
    std::string names;
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      if (rails_[r]) names += cat(names.empty() ? "" : ", ", options_.rail_names[r]);
    }
    throw RunError(cat(options_.name, ": no rail (", names, ") has answered for ", text_of(options_.link_timeout),
                       ": the network between them is cut, or the other rank is stopped"));
  }

  static std::string text_of(std::chrono::nanoseconds time) {
    return cat(static_cast<double>(time.count() / 1'000'000) / 1000, " s");
  }

  std::vector<Rail> state_;
  RailWatch watch_;
  std::array<Kept, ahead> kept_{};
  std::uint64_t kept_end_ = 0;      // behind the last short transfer
  std::uint64_t acknowledged_ = 0;  // so many transfers the receiver has complete
  std::uint8_t first_rail_ = on_no_rail;
  std::size_t next_ = 0;               // the first chunk that was never sent
  std::vector<std::size_t> again_;     // chunks of lost rails
  std::vector<std::uint8_t> rail_of_;  // by chunk
};

}  // namespace

UcxPortOf<SendPort> make_ucx_send_port(UcxRails rails, UcxPortOptions options) {
  auto port = std::make_unique<UcxSendPort>(std::move(rails), std::move(options));
  UcxPort* const shared = port.get();
  return {std::move(port), shared};
}

}  // namespace dsea::detail
