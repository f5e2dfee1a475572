// Streams: queues of work for a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "dsea/device/device.hpp"
#include "dsea/device/event.hpp"

namespace dsea {

/// A queue whose work runs in order. Work of different streams has no order except what events give it. Move-only; used
/// by one thread at a time.
///
/// On the host back end without async_streams the work runs at once, in the caller, and exceptions leave the call that
/// brought it. Otherwise a thread of the stream runs it; its first exception is kept for error() and all later tasks
/// are skipped, while events are still recorded and waited for, so that nobody waits for ever.
class Stream {
 public:
  static constexpr std::size_t max_task_bytes = 768;  ///< of a function object with all it captures
  static constexpr std::size_t queue_length = 256;    ///< tasks; whoever adds one more waits

  /// `name` is for logs and names the thread of an async host stream.
  Stream(const Device& device, std::string name);
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();  ///< waits for the queued work

  const Device& device() const;
  bool is_cuda() const;
  const std::string& name() const;
  void* native() const;  ///< the cudaStream_t; null on the host

  /// Host back end: runs f() in stream order, with all of its device's threads if it likes.
  template <class F>
  void host_run(F f);

  /// Both back ends: runs f() on the host in stream order. f must not use CUDA; it is small and copied.
  template <class F>
  void host_task(F f);

  /// Later work of this stream waits for the event's last record. A record made after this call is not waited for.
  void wait(const Event& event);

  /// The caller waits for all queued work; for start-up, shut-down and tests. Throws what error() holds.
  void synchronize();

  /// The first exception of queued host work, or null. Any thread may ask.
  std::exception_ptr error() const;

 private:
  friend class Event;
  struct State;
  using TaskFunction = void (*)(void* task, bool run);  ///< runs the task, if told so, and destroys it

  enum class Mode { now, queued, cuda };
  Mode mode() const;
  [[noreturn]] void refuse_host_run() const;
  void* begin_task();                                            ///< storage for one task, once there is room
  void commit_task(TaskFunction function, bool always = false);  ///< always: also after an error, and never delayed
  template <class F>
  void push(F f, bool always = false);

  std::unique_ptr<State> state_;
};

/// Copies bytes in stream order, between any two of host and device memory. The ranges must not overlap and must stay
/// until the copy is done. On CUDA host memory should be pinned, else the call may wait.
void copy(Stream& stream, void* to, const void* from, std::size_t bytes);

/// Sets bytes to zero in stream order.
void fill_zero(Stream& stream, void* to, std::size_t bytes);

template <class F>
void Stream::host_run(F f) {
  switch (mode()) {
    case Mode::now:
      f();
      return;
    case Mode::queued:
      push(std::move(f));
      return;
    case Mode::cuda:
      refuse_host_run();
  }
}

template <class F>
void Stream::host_task(F f) {
  if (mode() == Mode::now) {
    f();
    return;
  }
  push(std::move(f));
}

template <class F>
void Stream::push(F f, bool always) {
  static_assert(sizeof(F) <= max_task_bytes, "the function object is too large for a stream: pass pointers or a Table");
  static_assert(alignof(F) <= 64);
  static_assert(std::is_nothrow_move_constructible_v<F>);
  ::new (begin_task()) F(std::move(f));
  commit_task(
      [](void* task, bool run) {
        F& function = *std::launder(static_cast<F*>(task));
        struct Destroy {
          F& function;
          ~Destroy() { function.~F(); }
        } const destroy{function};
        if (run) function();
      },
      always);
}

}  // namespace dsea
