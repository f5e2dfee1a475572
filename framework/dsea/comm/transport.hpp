// What moves slices between the processes of a ring: the interface that local, mpi and others implement.
//
// A port is one direction of a connection to one other rank, used by one thread at each end. Transfers through a port
// are matched by their order: what the n-th start() of the sender gives is what the n-th start() of the receiver gets.
// Both sides must agree on the total number of bytes, though not on how it is cut into segments; a mismatch is an
// error. Nothing here blocks: start() begins a transfer, wait() lends the calling thread to it for a limited time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dsea {

/// A range of memory to be sent or filled. Its bytes belong to the port from start() until wait() has returned true, or
/// the transport is gone: after an error, too.
struct Segment {
  void* data = nullptr;
  std::size_t bytes = 0;
  bool on_device = false;  ///< memory of a GPU; only where Transport::takes_device_memory()
};

class SendPort {
 public:
  virtual ~SendPort() = default;
  /// Begins to send; the previous transfer must be complete. The list of segments itself is copied (at most 64).
  virtual void start(std::span<const Segment> segments) = 0;
  /// Makes progress for at most about `timeout`; true when the transfer is complete and its memory may be used again.
  /// Sleeps while there is nothing to do. Throws RunError if the connection is broken.
  virtual bool wait(std::chrono::nanoseconds timeout) = 0;
};

class ReceivePort {
 public:
  virtual ~ReceivePort() = default;
  virtual void start(std::span<const Segment> segments) = 0;
  virtual bool wait(std::chrono::nanoseconds timeout) = 0;
};

/// What a rail, one network path of several, has carried to the next rank.
struct RailTraffic {
  std::string name;
  std::uint64_t bytes = 0;
  std::string lost;  ///< why it is not used any more; empty: it is
};

/// One rank's connections. Created before the ring's threads; ports are made then and live as long as the transport.
class Transport {
 public:
  using Copy = std::function<void(void* to, const void* from, std::size_t bytes)>;

  virtual ~Transport() = default;
  virtual std::string name() const = 0;  ///< "local", "mpi"
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// One line for the log: what is used and why ("mpi: Open MPI 4.1.4, device memory staged through the host: ...").
  virtual std::string describe() const = 0;
  virtual bool takes_device_memory() const = 0;

  /// For transports in one address space: how the receiving side copies (a GPU copy, say). Before the first transfer.
  virtual void set_copy(Copy copy) = 0;

  // The ring: rank p sends to p+1 (the last to 0). Only with size() > 1.
  virtual SendPort& to_next() = 0;           // used by the output thread
  virtual ReceivePort& from_previous() = 0;  // used by the input thread

  /// Memory that segments of the ring's transfers will lie in, known before the first of them: it is registered with
  /// the network where that wants it, and stays so until the transport goes. May be called for several pieces.
  virtual void use_memory(void* /*data*/, std::size_t /*bytes*/, bool /*on_device*/) {}

  /// The rails to the next rank; empty where transfers are not striped by this library. Any thread.
  virtual std::vector<RailTraffic> rails() const { return {}; }

  // Loading: every rank makes some of the slices, which go the same way to rank 0, from rank 1 to 2 and so on. They
  // have connections of their own: neither what circulates nor the start must wait for room that the other one takes.
  virtual SendPort& load_to_next() = 0;           // ranks 1..: used by the load thread
  virtual ReceivePort& load_from_previous() = 0;  // ranks 2..: used by the load thread; rank 0: by the input thread

  /// Collective, from the thread that owns the ring, when the ring's ports are idle: every rank's bytes, by rank, on
  /// rank 0 (elsewhere empty). Throws RunError after `timeout`, and when another rank has failed.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                                     std::chrono::nanoseconds timeout) = 0;

  /// Collective, after gather() at an orderly end: waits until all ranks' bytes have arrived, since a rank that is
  /// through may still be needed to pass on what others send, and what it sent may be lost. Goes without an error after
  /// `timeout`; else throws as gather() does.
  virtual void finish(std::chrono::nanoseconds /*timeout*/) {}

  /// Are the ranks threads of this process?
  virtual bool in_one_process() const { return false; }

  /// True once another rank is known to have failed, to be gone or not to answer: everybody stops. Any thread.
  virtual bool peer_failed() const = 0;

  /// What is known of that: "rank 2 on en3 has ended without finishing". Empty if nothing has failed, and where ranks
  /// share a process, in which the one that failed has said it. Any thread.
  virtual std::string failure() const { return {}; }

  /// Throw RunError if both ends of the connection to the next rank are ready and nothing has moved for too long. For
  /// the thread that sends there, a few times a second.
  virtual void check_to_next() {}
  virtual void check_load_to_next() {}

  /// This rank, for people: "rank 1", "rank 1 on en2" where ranks may be on several machines.
  virtual std::string who() const { return "rank " + std::to_string(rank()); }

  /// Says that this rank failed. In one address space the other ranks notice by peer_failed(). Across processes all
  /// ranks are told why, have about a second to say what they waited for, and then this ends the whole job with the
  /// exit code and does not return. Any thread.
  virtual void fail(int exit_code, const std::string& why) noexcept = 0;
};

}  // namespace dsea
