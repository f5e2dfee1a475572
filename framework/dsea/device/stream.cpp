#include "dsea/device/stream.hpp"

#include <chrono>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "dsea/base/check.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/hash.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/device/cuda_api.hpp"
#include "dsea/device/event_state.hpp"
#include "dsea/device/host_loop.hpp"
#include "dsea/device/host_queue.hpp"

namespace dsea {

struct Stream::State {
  State(const Device& on, std::string called) : device(on), name(std::move(called)) {
    if (device.is_cuda()) {
      device.make_current();
      mode = Mode::cuda;
      queue.emplace(queue_length, 0);
      native = cuda::make_stream();
    } else if (device.async()) {
      mode = Mode::queued;
      const std::uint64_t seed = device.delay_seed();
      queue.emplace(queue_length, seed == 0 ? 0 : hash_text(name, seed) | 1);
      start_thread();
    }
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    if (mode == Mode::queued) {
      queue->close();
      thread.join();
    }
    if (native != nullptr) {
      try {
        cuda::synchronize(native);  // host tasks still point to the queue
      } catch (...) {
        // The error of some earlier work: whoever waits for that work gets it.
      }
      cuda::destroy_stream(native);
    }
  }

  void start_thread() {
    try {
      thread = std::jthread([this] {
        name_this_thread(name);
        block_signals();
        queue->work();
      });
    } catch (const std::system_error& error) {
      throw RunError(cat("cannot start the thread of stream '", name, "': ", error.what(),
                         ": allow more threads (ulimit -u) or run without async streams"));
    }
  }

  Device device;
  std::string name;
  Mode mode = Mode::now;
  void* native = nullptr;
  std::optional<HostQueue> queue;
  std::jthread thread;
};

Stream::Stream(const Device& device, std::string name) : state_(std::make_unique<State>(device, std::move(name))) {}
Stream::Stream(Stream&& other) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept = default;
Stream::~Stream() = default;

const Device& Stream::device() const { return state_->device; }
bool Stream::is_cuda() const { return state_->mode == Mode::cuda; }
const std::string& Stream::name() const { return state_->name; }
void* Stream::native() const { return state_->native; }
Stream::Mode Stream::mode() const { return state_->mode; }

void Stream::wait(const Event& event) {
  if (event.state_ == nullptr) return;
  DSEA_CHECK(event.state_->cuda == is_cuda(), "the event and stream '", name(), "' have different devices");
  if (is_cuda()) {
    state_->device.make_current();
    cuda::wait(state_->native, event.state_->native);
    return;
  }
  const std::uint64_t record = event.state_->recorded.load(std::memory_order_acquire);
  if (event.state_->completed.load(std::memory_order_acquire) >= record) return;
  if (state_->mode == Mode::now) {
    event.state_->wait(record);
  } else {
    push([state = event.state_, record] { state->wait(record); }, true);
  }
}

void Stream::synchronize() {
  if (state_->mode == Mode::queued) state_->queue->drain();
  if (state_->mode == Mode::cuda) {
    state_->device.make_current();
    cuda::synchronize(state_->native);
  }
  if (const std::exception_ptr failed = error()) std::rethrow_exception(failed);
}

std::exception_ptr Stream::error() const { return state_->queue ? state_->queue->error() : nullptr; }

void Stream::refuse_host_run() const {
  throw RunError(cat("stream '", name(), "' runs on a GPU: use for_each and its kin, or host_task"));
}

void* Stream::begin_task() {
  for (;;) {
    if (void* const storage = state_->queue->begin(std::chrono::seconds(1))) return storage;
    // On a GPU that has failed, host tasks are never called, so there would never be room again.
    if (is_cuda()) cuda::check_stream(state_->native);
  }
}

void Stream::commit_task(TaskFunction function, bool always) {
  state_->queue->commit(function, always);
  if (is_cuda()) {
    state_->device.make_current();
    cuda::call_host(
        state_->native, [](void* queue) { static_cast<HostQueue*>(queue)->run_oldest(); }, &*state_->queue);
  }
}

void copy(Stream& stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (stream.is_cuda()) {
    stream.device().make_current();
    cuda::copy(stream.native(), to, from, bytes);
    return;
  }
  stream.host_run([=, threads = stream.device().threads()] {
    parallel_ranges(threads, static_cast<std::int64_t>(bytes), std::int64_t{1} << 20,
                    [to, from](std::int64_t begin, std::int64_t end) {
                      std::memcpy(static_cast<unsigned char*>(to) + begin,
                                  static_cast<const unsigned char*>(from) + begin,
                                  static_cast<std::size_t>(end - begin));
                    });
  });
}

void fill_zero(Stream& stream, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if (stream.is_cuda()) {
    stream.device().make_current();
    cuda::zero(stream.native(), to, bytes);
    return;
  }
  stream.host_run([=, threads = stream.device().threads()] {
    parallel_ranges(threads, static_cast<std::int64_t>(bytes), std::int64_t{1} << 20,
                    [to](std::int64_t begin, std::int64_t end) {
                      std::memset(static_cast<unsigned char*>(to) + begin, 0, static_cast<std::size_t>(end - begin));
                    });
  });
}

}  // namespace dsea
