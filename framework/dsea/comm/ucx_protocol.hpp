// What ports and relays of transport ucx say to each other: messages over bidirectional rails, told apart by their
// tags.
//
// A transfer of up to `ucx_small` bytes is one message. A longer one is a `first` message with its length and chunks,
// which both sides cut in the same way and which take whatever rail has room: the receiver says of each chunk that it
// is there, by the rail it came by, since a library may call a message sent that waits in a buffer. It also
// acknowledges each transfer. A rail that is given up is closed by both sides (`close`, `closed`) before its chunks are
// sent again over others, so that nothing that is late can write into memory which has been reused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dsea::detail {

enum class UcxKind : std::uint64_t {
  // belong to a transfer
  chunk = 0,
  small = 1,
  first = 2,  // holds the transfer's length, 8 bytes
  // stand for themselves; `transfer` is the number of transfers that the sender of the message has complete
  hello = 8,
  acknowledge = 9,
  ping = 10,  // number: which one; answered by pong with the same
  pong = 11,
  close = 12,   // number: of the rail that is given up
  closed = 13,  // number: of the rail that this side has closed
  there = 14,   // number: of a chunk of the transfer under way
};

inline constexpr std::size_t ucx_small = 3 << 10;
inline constexpr std::uint64_t ucx_most_chunks = std::uint64_t{1} << 24;

/// The bits of a transfer's number that tags hold.
inline constexpr std::uint64_t ucx_transfer_bits = 0xfffffffff;

/// 4 bits kind, 36 bits transfer, 24 bits number.
constexpr std::uint64_t ucx_tag(UcxKind kind, std::uint64_t transfer, std::uint64_t number) {
  return static_cast<std::uint64_t>(kind) << 60 | (transfer & ucx_transfer_bits) << 24 | number;
}
constexpr UcxKind ucx_kind(std::uint64_t tag) { return static_cast<UcxKind>(tag >> 60); }
constexpr std::uint64_t ucx_transfer(std::uint64_t tag) { return tag >> 24 & ucx_transfer_bits; }
constexpr bool ucx_is_of(std::uint64_t tag, std::uint64_t transfer) {
  return ucx_transfer(tag) == (transfer & ucx_transfer_bits);
}
constexpr std::uint64_t ucx_number(std::uint64_t tag) { return tag & (ucx_most_chunks - 1); }

/// Which messages to take: those whose tag is the same under the mask.
struct UcxMatch {
  std::uint64_t tag, mask;
};
constexpr UcxMatch ucx_any_message{0, 0};
constexpr UcxMatch ucx_any_control{std::uint64_t{1} << 63, std::uint64_t{1} << 63};
constexpr UcxMatch ucx_any_of_transfer(std::uint64_t transfer) {
  return {ucx_tag(UcxKind::chunk, transfer, 0), std::uint64_t{1} << 63 | ucx_transfer_bits << 24};
}

/// How a transfer is cut: into about 128 chunks a rail, so that the rails end nearly together; none longer than
/// `longest`, and none so short that its messages cost more than its bytes. Shared memory has no other rails to end
/// with, and a chunk's messages wake up both sides several times: longer chunks there halve what a byte costs.
struct UcxChunks {
  std::size_t bytes = 0, chunk = 1;

  UcxChunks() = default;
  UcxChunks(std::size_t all, std::size_t rails, std::size_t longest, bool within_node) : bytes(all) {
    const std::size_t share = (all / (128 * rails) + 64) / 64 * 64;
    chunk = std::min(longest, std::max<std::size_t>(share, within_node ? 1 << 20 : 128 << 10));
  }
  std::size_t count() const { return (bytes + chunk - 1) / chunk; }
  std::size_t begin(std::size_t c) const { return c * chunk; }
  std::size_t length(std::size_t c) const { return std::min(chunk, bytes - c * chunk); }
};

}  // namespace dsea::detail
