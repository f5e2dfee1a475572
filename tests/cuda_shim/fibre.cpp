#undef _FORTIFY_SOURCE  // else longjmp refuses to go to another stack
#include "cuda_shim/fibre.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace shim {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stack_bytes = 128 * 1024;

Fibre* starting = nullptr;  // for enter(), which can have no argument; fibres start one at a time

}  // namespace

Fibre::Fibre(std::function<void()> body) : body_(std::move(body)) {
  void* const memory = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {  // whoever runs over the end stops there
    std::perror("CUDA shim: no memory for the stack of a thread");
    std::abort();
  }
  stack_ = static_cast<unsigned char*>(memory) + page;
}

Fibre::~Fibre() {
  reset();
  munmap(stack_ - page, page + stack_bytes);
}

void Fibre::reset() {
  started_ = false;
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(stack_, stack_bytes);
#endif
}

void Fibre::enter() {
  Fibre& self = *starting;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self.outside_stack_, &self.outside_bytes_);
#endif
  self.body_();
  std::abort();
}

void Fibre::prepare() {
  started_ = true;
  starting = this;
  getcontext(&first_);
  first_.uc_stack.ss_sp = stack_;
  first_.uc_stack.ss_size = stack_bytes;
  first_.uc_link = nullptr;
  makecontext(&first_, &Fibre::enter, 0);
}

#if defined(__SANITIZE_ADDRESS__)

void Fibre::resume() {
  if (!started_) prepare();
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_bytes);
  swapcontext(&outside_, &first_);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}

void Fibre::pause() {
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, outside_stack_, outside_bytes_);
  swapcontext(&first_, &outside_);
  __sanitizer_finish_switch_fiber(fake_stack, &outside_stack_, &outside_bytes_);
}

#else

void Fibre::resume() {
  if (_setjmp(outside_) != 0) return;
  if (started_) _longjmp(inside_, 1);
  prepare();
  setcontext(&first_);
}

void Fibre::pause() {
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}

#endif

}  // namespace shim
