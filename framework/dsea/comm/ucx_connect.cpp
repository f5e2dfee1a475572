#include "dsea/comm/ucx_connect.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "dsea/base/backoff.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/packed_texts.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/deadline.hpp"
#include "dsea/comm/step_of_all.hpp"

namespace dsea::detail {
namespace {

/// Names one end of a hop on all ranks; `sending`: the one nearer to the sender. The other end's differs in that bit.
constexpr std::uint64_t end_key(int link, std::size_t route, std::size_t hop, bool sending) {
  return static_cast<std::uint64_t>(link) << 32 | route << 8 | hop << 1 | (sending ? 1U : 0U);
}
constexpr std::uint64_t other_end = 1;

struct End {
  std::uint64_t key = 0;
  int other = 0;  // rank
  std::unique_ptr<UcxRail> rail;
};

/// What every rank says of itself first.
struct Place {
  std::string rails;  // how many
  std::string node;   // as given; else the host
  std::string host;
};

std::vector<Place> gather_places(const MpiSession& session, const UcxOptions& options, std::size_t rails) {
  const std::string host = host_name();
  const std::string node = options.node ? cat(*options.node) : "host " + host;
  const std::string mine[] = {cat(rails), node, host};
  std::vector<Place> places;
  for (const auto& bytes : session.gather_all(pack_texts(mine), options.start_timeout)) {
    const std::vector<std::string> texts = unpack_texts(bytes);
    if (texts.size() != std::size(mine)) throw UsageError("ucx: the ranks are of different versions of DSEA");
    places.push_back({texts[0], texts[1], texts[2]});
  }
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (places[rank].rails == mine[0]) continue;
    throw UsageError(cat("ucx: rank ", rank, " on ", places[rank].host, " has ", places[rank].rails, " rails and rank ",
                         session.rank(), " on ", host, " has ", rails, ": all ranks need as many (ring.rails)"));
  }
  return places;
}

std::vector<int> nodes_of(const std::vector<Place>& places) {
  std::map<std::string, int> known;
  std::vector<int> nodes;
  for (const Place& p : places) {
    nodes.push_back(known.try_emplace(p.node, static_cast<int>(known.size())).first->second);
  }
  return nodes;
}

std::string rail_name(const std::string& device) { return device.empty() ? "the only rail" : device; }

/// The addresses of all ends of this rank, each behind its key and its length.
std::vector<std::byte> packed_addresses(const std::vector<End>& ends) {
  std::vector<std::byte> all;
  const auto append = [&](const void* data, std::size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    all.insert(all.end(), first, first + bytes);
  };
  for (const End& end : ends) {
    const std::vector<std::byte> address = end.rail->address();
    const std::uint64_t head[2] = {end.key, address.size()};
    append(head, sizeof head);
    append(address.data(), address.size());
  }
  return all;
}

std::span<const std::byte> find_address(std::span<const std::byte> all, std::uint64_t key) {
  std::uint64_t head[2] = {0, 0};
  while (all.size() >= sizeof head) {
    std::memcpy(head, all.data(), sizeof head);
    all = all.subspan(sizeof head);
    if (head[1] > all.size()) break;
    if (head[0] == key) return all.first(head[1]);
    all = all.subspan(head[1]);
  }
  return {};
}

/// A word over every rail, both ways, so that all connections are made before the first transfer, and one that cannot
/// be is known by its name at the start.
void say_hello(const std::vector<End>& ends, Clock::time_point deadline) {
  constexpr std::uint64_t tag = ucx_tag(UcxKind::hello, 0, 0);
  struct Word {
    std::uint64_t said = 0x48454c4c4f, heard = 0;
    UcxMessage out, in;
  };
  std::vector<std::unique_ptr<Word>> words;
  for (const End& end : ends) {
    auto& w = *words.emplace_back(std::make_unique<Word>());
    w.in.add(&w.heard, sizeof w.heard);
    end.rail->expect(w.in, tag);
    w.out.add(&w.said, sizeof w.said);
    end.rail->send(w.out, tag, true);
  }
  for (Backoff backoff;;) {
    bool moved = false;
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      UcxRail& rail = *ends[i].rail;
      moved = rail.progress() || moved;
      const bool sent = rail.test(words[i]->out);
      if (!rail.test(words[i]->in) || !sent) missing.push_back(rail.name());
    }
    if (missing.empty()) return;
    if (time_left(deadline).count() == 0) {
      for (auto& word : words) static_cast<void>(word.release());  // UCX may still look at them
      throw RunError(
          cat("ucx: no connection by ", joined(missing, "; "), ": can these nodes reach each other over this device?"));
    }
    if (moved)
      backoff.reset();
    else
      backoff.pause();
  }
}

}  // namespace

UcxConnections connect_ucx(MpiSession& session, const UcxOptions& options, Connection connection) {
  const std::vector<std::string> cards = options.rails.empty() ? std::vector<std::string>{""} : options.rails;
  const int me = session.rank(), ranks = session.size();
  const std::vector<Place> places = gather_places(session, options, cards.size());
  const std::vector<int> nodes = nodes_of(places);
  UcxConnections made;
  for (int rank = 0; rank < ranks; ++rank)
    made.places.push_back(cat("rank ", rank, " on ", places[static_cast<std::size_t>(rank)].host));

  std::vector<End> ends;
  std::vector<std::vector<RailRoute>> routes;
  const auto open_ends = [&](int link, std::size_t route, std::size_t h) {
    const RailHop& hop = routes.back()[route][h];
    if (hop.from != me && hop.to != me) return;
    const std::string device = hop.card < 0 ? "" : cards[static_cast<std::size_t>(hop.card)];
    const std::string name =
        cat(hop.card < 0 ? "the connection within the node" : rail_name(device), " from ",
            made.places[static_cast<std::size_t>(hop.from)], " to ", made.places[static_cast<std::size_t>(hop.to)]);
    if (device == "lo" && !options.node) {
      throw UsageError(cat("ucx: ", name, ": 'lo' does not leave a node: name network cards in ring.rails"));
    }
    for (const bool sending : {true, false}) {
      if ((sending ? hop.from : hop.to) != me) continue;
      ends.push_back(
          {end_key(link, route, h, sending), sending ? hop.to : hop.from, std::make_unique<UcxRail>(device, name)});
    }
  };
  const std::chrono::nanoseconds least = std::chrono::seconds(5);
  const auto limit = std::min(options.start_timeout, std::max(least, session.heartbeat({})->link_timeout()));
  const auto patience = std::min(options.start_timeout, limit + least);
  const auto exchange = [&](const std::vector<std::byte>& mine) { return session.gather_all(mine, patience); };
  try {
    step_of_all(exchange, [&] {
      for (int link = 0; link < ranks; ++link) {
        const bool loads = connection == load_connection;
        routes.push_back(loads && link == 0
                             ? std::vector<RailRoute>{}
                             : rail_routes(nodes, link, static_cast<int>(cards.size()), options.relays && !loads));
        for (std::size_t route = 0; route < routes.back().size(); ++route) {
          for (std::size_t h = 0; h < routes.back()[route].size(); ++h) open_ends(link, route, h);
        }
      }
    });
    const auto addresses = session.gather_all(packed_addresses(ends), patience);
    step_of_all(exchange, [&] {
      for (const End& end : ends) {
        const auto address = find_address(addresses[static_cast<std::size_t>(end.other)], end.key ^ other_end);
        if (address.empty()) throw RunError(cat("ucx: ", end.rail->name(), ": the other side does not know of it"));
        end.rail->connect(address);
      }
    });
    step_of_all(exchange, [&] { say_hello(ends, deadline_after(limit)); });
  } catch (...) {
    for (const End& end : ends) end.rail->leave();
    throw;
  }

  const int previous = (me + ranks - 1) % ranks;
  const auto taken = [&](int link, std::size_t route, std::size_t hop, bool sending) {
    const std::uint64_t key = end_key(link, route, hop, sending);
    for (End& end : ends) {
      if (end.key == key && end.rail) return std::move(end.rail);
    }
    throw RunError("ucx: a rail is missing");
  };
  for (int link = 0; link < ranks; ++link) {
    const auto& of_link = routes[static_cast<std::size_t>(link)];
    for (std::size_t route = 0; route < of_link.size(); ++route) {
      const RailRoute& hops = of_link[route];
      const auto card = std::find_if(hops.begin(), hops.end(), [](const RailHop& hop) { return hop.card >= 0; });
      std::string name = card == hops.end() ? "shared memory" : rail_name(cards[static_cast<std::size_t>(card->card)]);
      for (std::size_t h = 0; h + 1 < hops.size(); ++h) name += cat(h == 0 ? " by rank " : " and ", hops[h].to);
      if (link == me) {
        made.to_next.push_back(taken(link, route, 0, true));
        made.to_next_names.push_back(name);
        made.next_within_node = card == hops.end();
      }
      if (link == previous) {
        made.from_previous.push_back(taken(link, route, hops.size() - 1, false));
        made.from_previous_names.push_back(name);
        made.previous_within_node = card == hops.end();
      }
      made.relayed = made.relayed || ((link == me || link == previous) && hops.size() > 1);
      for (std::size_t h = 0; h + 1 < hops.size(); ++h) {
        if (hops[h].to == me) made.relays.push_back({taken(link, route, h, false), taken(link, route, h + 1, true)});
      }
    }
  }
  return made;
}

}  // namespace dsea::detail
