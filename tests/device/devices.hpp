// The devices that the tests of this folder run on, and memory on them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <future>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "dsea/base/error.hpp"
#include "dsea/device/buffer.hpp"
#include "dsea/device/device.hpp"
#include "dsea/device/stream.hpp"

namespace dsea::test {

struct DeviceCase {
  std::string name;
  DeviceOptions options;

  Device open() const { return Device::open(options); }
  friend void PrintTo(const DeviceCase& device, std::ostream* out) { *out << device.name; }
};

inline DeviceCase host_case(const std::string& name, int threads, bool async, std::uint64_t delay_seed = 0) {
  DeviceOptions options;
  options.backend = "host";
  options.threads = threads;
  options.async_streams = async;
  options.delay_seed = delay_seed;
  return {name, options};
}

inline std::vector<DeviceCase> async_devices() {
  return {host_case("async1", 1, true), host_case("async2", 2, true), host_case("delayed1", 1, true, 17),
          host_case("delayed2", 2, true, 4711)};
}

inline std::vector<DeviceCase> host_devices() {
  std::vector<DeviceCase> cases = {host_case("sync1", 1, false), host_case("sync2", 2, false)};
  for (const DeviceCase& device : async_devices()) cases.push_back(device);
  return cases;
}

/// All kinds of host device, and a GPU where there is one.
inline std::vector<DeviceCase> all_devices() {
  std::vector<DeviceCase> cases = host_devices();
  DeviceCase cuda{"cuda", {}};
  cuda.options.backend = "cuda";
  try {
    cuda.open();
    cases.push_back(cuda);
  } catch (const Error&) {
    // No GPU: the host's back end is what can be tested.
  }
  return cases;
}

inline std::string case_name(const testing::TestParamInfo<DeviceCase>& info) { return info.param.name; }

/// A copy of the values in device memory.
template <class T>
Buffer to_device(Stream& stream, const std::vector<T>& values) {
  Buffer buffer(stream.device(), values.size() * sizeof(T), Memory::device, Contents::uninitialised);
  copy(stream, buffer.data(), values.data(), values.size() * sizeof(T));
  stream.synchronize();
  return buffer;
}

/// The values after all work queued so far.
template <class T>
std::vector<T> from_device(Stream& stream, const T* from, std::size_t n) {
  std::vector<T> values(n);
  copy(stream, values.data(), from, n * sizeof(T));
  stream.synchronize();
  return values;
}

/// A task that waits until the test lets it go; keeps the work behind it from starting.
class Gate {
 public:
  ~Gate() { open(); }
  auto task() const {
    return [future = future_] { future.wait(); };
  }
  void open() {
    if (!open_) promise_.set_value();
    open_ = true;
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
  bool open_ = false;
};

/// The text of the exception of this type that f throws; fails the test if it throws none.
template <class Exception, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace dsea::test
