// Warp collectives: lanes wait until all that the mask names have come; the last one works out what everybody gets.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cuda_shim/block_runner.hpp"

namespace shim {

namespace {

constexpr std::uint64_t nobodys_value = ~std::uint64_t{0};

/// The lane that `lane` reads from; itself where the shuffle would leave its part of the warp.
unsigned source_lane(const WarpCall& call, unsigned lane) {
  const unsigned begin = lane / call.width * call.width;
  const unsigned end = begin + call.width;
  unsigned source = lane;
  switch (call.kind) {
    case Collective::shuffle:
      return begin + call.operand % call.width;
    case Collective::shuffle_up:
      return call.operand > lane - begin ? lane : lane - call.operand;
    case Collective::shuffle_down:
      return call.operand >= end - lane ? lane : lane + call.operand;
    case Collective::shuffle_xor:
      source = lane ^ call.operand;
      return source < end ? source : lane;
    case Collective::sync:
    case Collective::ballot:
      break;
  }
  return lane;
}

std::string hexadecimal(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

BlockRunner& in_kernel(const char* what) {
  if (running == nullptr) {
    std::fprintf(stderr, "CUDA shim: %s was called outside of a kernel\n", what);
    std::abort();
  }
  return *running;
}

}  // namespace

unsigned BlockRunner::lane_of(const Thread& thread) const {
  return static_cast<unsigned>((&thread - threads_.data()) % warpSize);
}

std::size_t BlockRunner::warp_begin(const Thread& thread) const {
  return static_cast<std::size_t>(&thread - threads_.data()) / warpSize * warpSize;
}

std::uint64_t BlockRunner::warp_collective(const WarpCall& call) {
  Thread& me = *current_;
  const std::size_t begin = warp_begin(me);
  if ((call.mask >> lane_of(me) & 1U) == 0) {
    note_failure(me, "the mask " + hexadecimal(call.mask) + " at " + place(call.where) + " lacks its own lane " +
                         std::to_string(lane_of(me)));
    stop(*me.fibre);
  }
  if (call.width == 0 || call.width > 32 || (call.width & (call.width - 1)) != 0) {
    note_failure(
        me, "the width " + std::to_string(call.width) + " at " + place(call.where) + " is not a power of two up to 32");
    stop(*me.fibre);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((call.mask >> lane & 1U) == 0) continue;
    const bool exists = begin + lane < threads_.size();
    if (exists && threads_[begin + lane].state != Thread::State::exited) continue;
    note_failure(me, "the mask " + hexadecimal(call.mask) + " at " + place(call.where) + " names lane " +
                         std::to_string(lane) + (exists ? ", which has exited" : ", which the block does not have"));
    stop(*me.fibre);
  }
  me.call = call;
  if (!complete_collective(me)) wait(Thread::State::in_warp);
  return me.result;
}

/// If all lanes of the mask have come: gives each its result and lets them go on.
bool BlockRunner::complete_collective(const Thread& caller) {
  const WarpCall& call = caller.call;
  Thread* const warp = &threads_[warp_begin(caller)];
  const auto takes_part = [&call](unsigned lane) { return (call.mask >> lane & 1U) != 0; };
  std::uint64_t ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(lane)) continue;
    const Thread& other = warp[lane];
    const bool here = &other == &caller || other.state == Thread::State::in_warp;
    if (!here || other.call.kind != call.kind || other.call.mask != call.mask) return false;
    ballot |= (other.call.value & 1U) << lane;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(lane)) continue;
    Thread& other = warp[lane];
    const unsigned source = source_lane(other.call, lane);
    other.result = call.kind == Collective::ballot ? ballot
                   : takes_part(source)            ? warp[source].call.value
                                                   : nobodys_value;
    if (&other != &caller) other.state = Thread::State::ready;
  }
  return true;
}

int barrier(bool predicate, const std::source_location& where) {
  return in_kernel("__syncthreads").barrier(predicate, where);
}

std::uint64_t warp_collective(const WarpCall& call) { return in_kernel("a warp collective").warp_collective(call); }

void* dynamic_shared() { return in_kernel("dynamic_shared").dynamic_shared(); }

}  // namespace shim
