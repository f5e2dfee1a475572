// A fibre: a function with a stack of its own that can pause in the middle.
#pragma once

#include <ucontext.h>

#include <csetjmp>
#include <cstddef>
#include <functional>

namespace shim {

/// Runs `body` on its own stack, by turns with whoever resumes it. Not thread safe; may be resumed by another thread
/// than before. body must not return and no exception may leave it.
class Fibre {
 public:
  explicit Fibre(std::function<void()> body);
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;
  ~Fibre();

  /// Runs it from where it paused, the first time from its beginning, until it pauses.
  void resume();

  /// Called on the fibre: gives the turn back.
  void pause();

  /// What is on its stack is forgotten, without destructors; body begins again at the next resume().
  void reset();

 private:
  static void enter();
  void prepare();  // the first time: the stack and where to start on it

  std::function<void()> body_;
  unsigned char* stack_ = nullptr;
  bool started_ = false;
  ucontext_t first_{};  // where it begins
#if defined(__SANITIZE_ADDRESS__)
  ucontext_t outside_{};  // who resumed it
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
#else
  // Without the system calls of swapcontext, which keeps the mask of signals: ten times as fast.
  std::jmp_buf inside_;
  std::jmp_buf outside_;
#endif
};

}  // namespace shim
