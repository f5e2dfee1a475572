// Runs one test body on every rank of a transport: as threads (for several numbers of ranks) or as MPI processes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "dsea/comm/transport.hpp"

namespace comm_test {

struct Options {
  std::size_t chunk_bytes = 0;  ///< largest message of a transport that has one; 0: its default
};

/// Runs `body` on all ranks, each with its own transport; an exception that leaves it is a test failure.
void on_every_rank(const std::function<void(dsea::Transport&)>& body, const Options& options = {});

/// Called by all ranks within on_every_rank(): none goes on before all have come.
void barrier();

/// Does the sender learn that the receiver expected another size?
bool sender_sees_mismatch();

/// Is Transport::takes_device_memory() true?
bool moves_device_memory();

using Bytes = std::vector<std::byte>;

/// Content that only transfer `transfer` of rank `rank` has.
inline Bytes content(int rank, std::uint64_t transfer, std::size_t bytes) {
  std::uint64_t word = (transfer * 64 + static_cast<std::uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15u;
  Bytes data(bytes);
  for (std::size_t i = 0; i < bytes; i += sizeof word) {
    std::memcpy(data.data() + i, &word, std::min(bytes - i, sizeof word));
    word = word * 6364136223846793005u + 1442695040888963407u;
  }
  return data;
}

/// Cuts memory into `pieces` segments at random places, some of them empty.
template <class Random>
std::vector<dsea::Segment> cut(Bytes& data, std::size_t pieces, Random& random) {
  std::vector<std::size_t> places{0, data.size()};
  for (std::size_t i = 1; i < pieces; ++i) places.push_back(random() % (data.size() + 1));
  std::sort(places.begin(), places.end());
  std::vector<dsea::Segment> segments;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    segments.push_back({data.data() + places[i], places[i + 1] - places[i], false});
  }
  return segments;
}

inline dsea::Segment whole(Bytes& data) { return {data.data(), data.size(), false}; }

template <class Port>
void start(Port& port, Bytes& data) {
  const dsea::Segment segment = whole(data);
  port.start({&segment, 1});
}

/// The rank in front of this one in the ring.
inline int previous(const dsea::Transport& transport) {
  return (transport.rank() + transport.size() - 1) % transport.size();
}

/// To the end, within the test's own time limit.
template <class Port>
void finish(Port& port) {
  while (!port.wait(std::chrono::milliseconds(50))) continue;
}

/// Both directions by one thread.
inline void finish_both(dsea::SendPort& send, dsea::ReceivePort& receive) {
  const auto slice = std::chrono::milliseconds(1);
  for (bool sent = false, received = false; !sent || !received;) {
    sent = sent || send.wait(slice);
    received = received || receive.wait(slice);
  }
}

}  // namespace comm_test
