// Runs launches: one block after the other, a block's threads by turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "cuda_shim/builtins.hpp"
#include "cuda_shim/fibre.hpp"
#include "cuda_shim/launch.hpp"
#include "cuda_shim/order.hpp"

namespace shim {

/// A thread of the block that runs.
struct Thread {
  enum class State { fresh, ready, at_barrier, in_warp, exited };

  State state = State::fresh;
  uint3 index{};
  Fibre* fibre = nullptr;      ///< its stack, while it has begun and not ended
  std::source_location where;  ///< of the barrier it waits at
  bool predicate = false;      ///< what it brings to the barrier
  WarpCall call;               ///< the collective it waits in
  std::uint64_t result = 0;    ///< of that
};

/// Keeps the stacks of 1024 threads once they were needed. A thread that never waits needs none of its own: the next
/// one runs on the same. Used by one thread at a time, under the runtime's lock.
class BlockRunner {
 public:
  /// Runs it all. Empty, or what was wrong; the rest of the launch is then left out.
  std::string run(const Launch& launch, Order& order);

  // Called by the kernel's threads, on their fibres.
  int barrier(bool predicate, const std::source_location& where);
  std::uint64_t warp_collective(const WarpCall& call);
  void* dynamic_shared() const { return shared_; }

 private:
  void prepare(const Launch& launch);
  void run_block(Order& order);
  Thread* next_in_pass(bool fresh_only);
  void enter(Thread& thread);
  void live(Fibre& fibre);  // what a fibre does: thread after thread
  void end(Thread& thread);
  void release_barrier();
  bool complete_collective(const Thread& caller);
  void wait(Thread::State state);
  void abandon();
  void check_shared();

  [[noreturn]] static void stop(Fibre& fibre);  // on that fibre: after a failure
  void note_failure(const Thread& thread, const std::string& what);
  std::string deadlock() const;
  unsigned lane_of(const Thread& thread) const;
  std::size_t warp_begin(const Thread& thread) const;

  const Launch* launch_ = nullptr;
  std::vector<Thread> threads_;
  Thread* current_ = nullptr;
  std::size_t alive_ = 0;
  std::size_t at_barrier_ = 0;
  int predicates_ = 0;  // how many held at the last barrier
  std::string failure_;

  Permutation pass_{1, 0, 0};  // one round over the threads
  std::size_t left_in_pass_ = 0;
  Thread* peeked_ = nullptr;

  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;
  std::vector<unsigned char> shared_memory_;  // with a guard zone on both sides
  unsigned char* shared_ = nullptr;
};

/// The one whose kernel is running, or null.
extern BlockRunner* running;

/// "(x, y, z)"
std::string place(const uint3& index);

/// "file.cpp:12"
std::string place(const std::source_location& where);

}  // namespace shim
