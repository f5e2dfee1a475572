#include "dsea/device/device.hpp"

#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/text.hpp"
#include "dsea/device/cuda_api.hpp"

namespace dsea {

struct Device::State {
  Backend backend = Backend::host;
  int index = 0;
  int threads = 1;
  Isa isa = Isa::baseline;
  bool async = false;
  std::uint64_t delay_seed = 0;
  std::string name;
  std::string why;
};

namespace {

void check_options(const DeviceOptions& options) {
  if (options.backend != "auto" && options.backend != "host" && options.backend != "cuda") {
    throw UsageError(cat("unknown device '", options.backend, "': use auto, host or cuda"));
  }
  if (options.index < 0) throw UsageError(cat("GPU number ", options.index, " is negative: count from 0"));
  if (options.threads < 1) throw UsageError(cat("a kernel needs at least 1 thread, not ", options.threads));
  if (options.isa && *options.isa > best_isa()) {
    throw UsageError(cat("instruction set '", isa_name(*options.isa), "' was asked for, but this machine offers ",
                         isa_name(best_isa()), " at most"));
  }
}

/// Threads a kernel can really use.
int usable_threads(int threads) {
#if defined(_OPENMP)
  return threads;
#else
  static_cast<void>(threads);
  return 1;
#endif
}

std::string host_name(int threads, Isa isa) {
  return cat("host, ", threads, threads == 1 ? " thread, " : " threads, ", isa_name(isa));
}

}  // namespace

Device::Device(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Device Device::open(const DeviceOptions& options) {
  check_options(options);
  auto state = std::make_shared<State>();
  state->isa = options.isa.value_or(best_isa());
  state->delay_seed = options.delay_seed;

  std::string reason = "asked for";
  if (options.backend != "host") {
    std::string missing;
    const int count = cuda::device_count(missing);
    if (count > 0) {
      if (options.index >= count) {
        throw UsageError(
            cat("GPU ", options.index, " was asked for, but there are ", count, ", numbered from 0: choose another"));
      }
      cuda::prepare(options.index);
      state->backend = Backend::cuda;
      state->index = options.index;
      state->async = true;
      state->delay_seed = 0;
      state->name = cuda::device_name(options.index);
      state->why =
          cat("cuda: ", options.backend == "cuda" ? "asked for" : "found", ", GPU ", options.index, " of ", count);
      return Device(std::move(state));
    }
    if (options.backend == "cuda") {
      throw UsageError(cat("no CUDA device: ", missing, "; use --device host, or auto to take what is there"));
    }
    reason = cat("no CUDA device (", missing, ")");
  }

  state->threads = usable_threads(options.threads);
  state->async = options.async_streams;
  state->name = host_name(state->threads, state->isa);
  state->why = cat("host: ", reason);
  if (state->threads < options.threads) state->why += cat("; ", options.threads, " threads need a build with OpenMP");
  return Device(std::move(state));
}

Backend Device::backend() const { return state_->backend; }
std::string Device::name() const { return state_->name; }
int Device::index() const { return state_->index; }
std::string Device::address() const { return is_cuda() ? cuda::pci_address(state_->index) : ""; }
int Device::threads() const { return state_->threads; }
Isa Device::isa() const { return state_->isa; }
bool Device::async() const { return state_->async; }
std::uint64_t Device::delay_seed() const { return state_->delay_seed; }
std::string Device::why() const { return state_->why; }

std::int64_t Device::memory_available() const {
  if (!is_cuda()) return available_memory();
  make_current();
  return cuda::free_memory();
}

void Device::make_current() const {
  if (is_cuda()) cuda::set_device(state_->index);
}

}  // namespace dsea
