#include "cuda_shim/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cuda_shim/control.hpp"
#include "cuda_shim/symbols.hpp"

namespace shim {

namespace {

constexpr std::size_t longest_queue = 200;  // real ones are bounded too: beyond that, work begins by itself

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  if (*end != '\0' || number > (std::uint64_t{1} << 50)) {
    std::fprintf(stderr, "CUDA shim: %s: '%s' is not a number that makes sense\n", name, text);
    std::exit(2);
  }
  return number;
}

void at_end() {
  const Call call;
  const std::size_t unseen = call.runtime.faults.size() - call.runtime.faults_seen;
  if (unseen == 0) return;
  std::fprintf(stderr, "CUDA shim: %zu faults that nobody asked about\n", unseen);
  std::fflush(nullptr);
  std::_Exit(70);
}

}  // namespace

Runtime& Runtime::get() {
  static Runtime* const runtime = [] {
    auto* const made = new Runtime;  // streams and memory may be released by whatever is destroyed last
    std::atexit(at_end);
    return made;
  }();
  return *runtime;
}

Runtime::Runtime() : order(Order::from_environment()) {
  devices.resize(number_from_environment("DSEA_SHIM_DEVICES", 1));
  for (std::size_t k = 0; k < devices.size(); ++k) {
    devices[k].bytes = number_from_environment("DSEA_SHIM_MEMORY", std::uint64_t{4} << 30);
    devices[k].default_stream = std::make_shared<Stream>();
    devices[k].default_stream->device = static_cast<int>(k);
  }
}

std::shared_ptr<Stream> Runtime::find_stream(cudaStream_t handle) {
  if (devices.empty()) return nullptr;
  if (handle == nullptr) return devices[static_cast<std::size_t>(Call::current_device())].default_stream;
  const auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

std::shared_ptr<Event> Runtime::find_event(cudaEvent_t handle) {
  const auto found = events.find(handle);
  return found == events.end() ? nullptr : found->second;
}

bool Mark::reached() const { return stream->done >= place; }

void Runtime::push(Stream& stream, Operation operation) {
  stream.queue.push_back(std::move(operation));
  ++stream.queued;
  if (stream.queue.size() > longest_queue) advance(stream, stream.queued - longest_queue / 2);
}

bool Runtime::advance(Stream& stream, std::uint64_t place) {
  stream.wanted = std::max(stream.wanted, place);
  while (stream.done < place) {
    if (stream.in_host_function) return false;
    Operation& next = stream.queue.front();
    const bool failed = devices[static_cast<std::size_t>(stream.device)].error != cudaSuccess;
    if (next.wait_for && !failed && !advance(*next.wait_for->stream, next.wait_for->place)) return false;
    if (next.host && !failed) {
      start_host_function(stream);
      return false;
    }
    if (next.run && !failed) {
      const std::string wrong = next.run();
      if (!wrong.empty()) fault(stream.device, cudaErrorLaunchFailure, wrong);
    }
    stream.queue.pop_front();
    ++stream.done;
  }
  return true;
}

void Runtime::start_host_function(Stream& stream) {
  stream.in_host_function = true;
  if (!stream.host_thread) {
    stream.host_thread = std::make_unique<HostThread>([this, &stream] {
      const std::scoped_lock lock_in_thread(mutex);
      stream.in_host_function = false;
      stream.queue.pop_front();
      ++stream.done;
      advance(stream, stream.wanted);
      for (const auto& [handle, other] : streams) advance(*other, other->wanted);  // some may have waited for this one
      host_function_done.notify_all();
    });
  }
  stream.host_thread->start(stream.queue.front().host);
}

void Runtime::finish(std::unique_lock<std::mutex>& lock, Stream& stream, std::uint64_t place) {
  while (!advance(stream, place)) host_function_done.wait(lock);
}

void Runtime::finish_device(std::unique_lock<std::mutex>& lock, int device) {
  std::vector<std::shared_ptr<Stream>> all = {devices[static_cast<std::size_t>(device)].default_stream};
  for (const auto& [handle, stream] : streams) {
    if (stream->device == device) all.push_back(stream);
  }
  for (const auto& stream : all) finish(lock, *stream, stream->queued);
}

std::string Runtime::run(const Launch& launch) {
  std::string wrong = runner.run(launch, order);
  if (!wrong.empty()) return wrong;
  wrong = memory.check();
  return wrong.empty() ? wrong : "kernel " + kernel_name(launch.kernel) + " has " + wrong;
}

void Runtime::fault(int device, cudaError_t error, const std::string& text) {
  std::fprintf(stderr, "CUDA shim: %s\n", text.c_str());
  faults.push_back(text);
  cudaError_t& state = devices[static_cast<std::size_t>(device)].error;
  if (state == cudaSuccess) state = error;
}

// ---- calls ----
Call::Call() : runtime(Runtime::get()), lock(runtime.mutex) {}

int& Call::current_device() {
  thread_local int device = 0;
  return device;
}

cudaError_t& Call::last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t Call::result(cudaError_t error) {
  if (error != cudaSuccess) last_error() = error;
  return error;
}

cudaError_t Call::earlier_error(int device) const {
  if (in_host_function()) return cudaErrorNotPermitted;
  if (device < 0 || static_cast<std::size_t>(device) >= runtime.devices.size()) return cudaErrorNoDevice;
  return runtime.devices[static_cast<std::size_t>(device)].error;
}

// ---- what tests can ask ----
void set_order(const Order& order) {
  const Call call;
  call.runtime.order = order;
}

std::map<std::string, std::int64_t> launches() {
  const Call call;
  std::map<std::string, std::int64_t> by_name;
  for (const auto& [kernel, number] : call.runtime.launches) by_name[kernel_name(kernel)] += number;
  return by_name;
}

std::int64_t launch_count() {
  const Call call;
  std::int64_t sum = 0;
  for (const auto& [kernel, number] : call.runtime.launches) sum += number;
  return sum;
}

void reset_launches() {
  const Call call;
  call.runtime.launches.clear();
}

std::string take_faults() {
  Call call;
  std::string text;
  for (; call.runtime.faults_taken < call.runtime.faults.size(); ++call.runtime.faults_taken) {
    text += call.runtime.faults[call.runtime.faults_taken] + "\n";
  }
  call.runtime.faults_seen = call.runtime.faults.size();
  for (std::size_t k = 0; k < call.runtime.devices.size(); ++k) {
    if (call.runtime.devices[k].error != cudaSuccess) call.runtime.finish_device(call.lock, static_cast<int>(k));
  }
  for (DeviceState& device : call.runtime.devices) device.error = cudaSuccess;
  Call::last_error() = cudaSuccess;
  return text;
}

}  // namespace shim
