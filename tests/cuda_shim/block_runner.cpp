#include "cuda_shim/block_runner.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cuda_shim/symbols.hpp"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace shim {

BlockRunner* running = nullptr;

namespace {

constexpr std::size_t guard_bytes = 256;
constexpr unsigned char guard_byte = 0xb5;

}  // namespace

std::string BlockRunner::run(const Launch& launch, Order& order) {
  prepare(launch);
  running = this;
  const std::uint64_t in_plane = std::uint64_t{launch.grid.x} * launch.grid.y;
  const std::uint64_t blocks = in_plane * launch.grid.z;
  Permutation permutation = order.permutation(blocks);
  for (std::uint64_t k = 0; k < blocks && failure_.empty(); ++k) {
    const std::uint64_t block = permutation.next();
    blockIdx = {static_cast<unsigned>(block % launch.grid.x), static_cast<unsigned>(block % in_plane / launch.grid.x),
                static_cast<unsigned>(block / in_plane)};
    run_block(order);
  }
  running = nullptr;
  return failure_;
}

void BlockRunner::prepare(const Launch& launch) {
  launch_ = &launch;
  failure_.clear();
  gridDim = launch.grid;
  blockDim = launch.block;
  threads_.resize(std::size_t{launch.block.x} * launch.block.y * launch.block.z);
  std::size_t k = 0;
  for (unsigned z = 0; z < launch.block.z; ++z) {
    for (unsigned y = 0; y < launch.block.y; ++y) {
      for (unsigned x = 0; x < launch.block.x; ++x) threads_[k++].index = {x, y, z};
    }
  }
  shared_memory_.assign(launch.shared_bytes + 2 * guard_bytes + 64, guard_byte);
  const auto begin = reinterpret_cast<std::uintptr_t>(shared_memory_.data()) + guard_bytes;
  shared_ = shared_memory_.data() + guard_bytes + (64 - begin % 64) % 64;
  if (launch.shared_bytes == 0) shared_ = nullptr;
}

void BlockRunner::run_block(Order& order) {
  for (Thread& thread : threads_) {
    thread.state = Thread::State::fresh;
    thread.fibre = nullptr;
  }
  alive_ = threads_.size();
  at_barrier_ = 0;
  if (shared_ != nullptr) std::memset(shared_, 0xff, launch_->shared_bytes);  // NaN
  while (alive_ > 0 && failure_.empty()) {
    pass_ = order.permutation(threads_.size());
    left_in_pass_ = threads_.size();
    peeked_ = nullptr;
    bool somebody = false;
    while (Thread* const thread = next_in_pass(false)) {
      somebody = true;
      enter(*thread);
      if (!failure_.empty()) break;
    }
    if (somebody || !failure_.empty()) continue;
    if (at_barrier_ == alive_) {
      release_barrier();
    } else {
      note_failure(*std::find_if(threads_.begin(), threads_.end(),
                                 [](const Thread& t) { return t.state == Thread::State::in_warp; }),
                   deadlock());
    }
  }
  if (!failure_.empty()) abandon();
  if (failure_.empty()) check_shared();
}

/// The next thread of this round that can run; fresh_only: null if that one has begun already.
Thread* BlockRunner::next_in_pass(bool fresh_only) {
  while (peeked_ == nullptr && left_in_pass_ > 0) {
    --left_in_pass_;
    Thread& thread = threads_[pass_.next()];
    if (thread.state == Thread::State::fresh || thread.state == Thread::State::ready) peeked_ = &thread;
  }
  if (peeked_ == nullptr || (fresh_only && peeked_->state != Thread::State::fresh)) return nullptr;
  return std::exchange(peeked_, nullptr);
}

/// Lets it run until it waits or, with those after it that need no stack of their own, ends.
void BlockRunner::enter(Thread& thread) {
  current_ = &thread;
  threadIdx = thread.index;
  if (thread.fibre == nullptr) {
    if (idle_.empty()) {
      const std::size_t number = fibres_.size();
      fibres_.push_back(std::make_unique<Fibre>([this, number] { live(*fibres_[number]); }));
      idle_.push_back(fibres_.back().get());
    }
    thread.fibre = idle_.back();
    idle_.pop_back();
  }
  thread.fibre->resume();
}

void BlockRunner::live(Fibre& fibre) {
  for (;;) {
    launch_->body();
    end(*current_);
    if (!failure_.empty()) stop(fibre);
    if (Thread* const next = next_in_pass(true)) {
      next->fibre = &fibre;
      current_ = next;
      threadIdx = next->index;
      continue;
    }
    idle_.push_back(&fibre);
    fibre.pause();
  }
}

void BlockRunner::end(Thread& thread) {
  thread.state = Thread::State::exited;
  thread.fibre = nullptr;
  --alive_;
  if (at_barrier_ > 0) {
    const Thread& waiting = *std::find_if(threads_.begin(), threads_.end(),
                                          [](const Thread& t) { return t.state == Thread::State::at_barrier; });
    note_failure(thread, "divergent barrier: it has exited while thread " + place(waiting.index) + " waits at " +
                             place(waiting.where));
  }
  const std::size_t begin = warp_begin(thread);
  const std::size_t last = std::min(begin + 32, threads_.size());
  for (std::size_t k = begin; k < last; ++k) {
    const Thread& other = threads_[k];
    if (other.state == Thread::State::in_warp && (other.call.mask >> lane_of(thread) & 1U) != 0) {
      note_failure(thread, "it has exited, but thread " + place(other.index) + " names its lane in the mask at " +
                               place(other.call.where));
    }
  }
}

int BlockRunner::barrier(bool predicate, const std::source_location& where) {
  Thread& me = *current_;
  me.where = where;
  me.predicate = predicate;
  if (alive_ < threads_.size()) {
    const Thread& gone = *std::find_if(threads_.begin(), threads_.end(),
                                       [](const Thread& t) { return t.state == Thread::State::exited; });
    note_failure(me, "divergent barrier at " + place(where) + ": thread " + place(gone.index) + " has exited");
    stop(*me.fibre);
  }
  ++at_barrier_;
  wait(Thread::State::at_barrier);
  return predicates_;
}

void BlockRunner::release_barrier() {
  const Thread& first = threads_.front();
  predicates_ = 0;
  for (Thread& thread : threads_) {
    if (thread.where.line() != first.where.line() || thread.where.column() != first.where.column() ||
        std::strcmp(thread.where.file_name(), first.where.file_name()) != 0) {
      note_failure(thread, "divergent barrier: it waits at " + place(thread.where) + ", thread " + place(first.index) +
                               " at " + place(first.where));
      return;
    }
    predicates_ += thread.predicate ? 1 : 0;
  }
  for (Thread& thread : threads_) thread.state = Thread::State::ready;
  at_barrier_ = 0;
}

void BlockRunner::wait(Thread::State state) {
  Thread& me = *current_;
  me.state = state;
  me.fibre->pause();
  me.state = Thread::State::ready;
}

/// Nothing that would have to be destroyed may be left on the fibre's stack.
void BlockRunner::stop(Fibre& fibre) {
  for (;;) fibre.pause();
}

void BlockRunner::note_failure(const Thread& thread, const std::string& what) {
  if (!failure_.empty()) return;
  failure_ = "kernel " + kernel_name(launch_->kernel) + ", block " + place(blockIdx) + ", thread " +
             place(thread.index) + ": " + what;
}

std::string BlockRunner::deadlock() const {
  std::string text = "no thread can go on:";
  int shown = 0;
  for (const Thread& thread : threads_) {
    if (thread.state == Thread::State::exited) continue;
    if (++shown > 8) return text + " ...";
    const bool barrier = thread.state == Thread::State::at_barrier;
    text += (shown > 1 ? ", " : " ") + place(thread.index) + " waits at " +
            place(barrier ? thread.where : thread.call.where);
  }
  return text;
}

/// After a failure all stacks begin anew.
void BlockRunner::abandon() {
  idle_.clear();
  for (const auto& fibre : fibres_) {
    fibre->reset();
    idle_.push_back(fibre.get());
  }
}

void BlockRunner::check_shared() {
  if (shared_ == nullptr) return;
  const unsigned char* const end = shared_ + launch_->shared_bytes;
  const auto touched = [](unsigned char byte) { return byte != guard_byte; };
  if (std::any_of(shared_memory_.data(), shared_, touched)) {
    note_failure(threads_.front(), "a thread of the block has written before its dynamic shared memory");
  } else if (std::any_of(end, static_cast<const unsigned char*>(shared_memory_.data()) + shared_memory_.size(),
                         touched)) {
    note_failure(threads_.front(), "a thread of the block has written behind its dynamic shared memory of " +
                                       std::to_string(launch_->shared_bytes) + " bytes");
  }
}

std::string place(const uint3& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

std::string place(const std::source_location& where) {
  const std::string path = where.file_name();
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(where.line());
}

}  // namespace shim
