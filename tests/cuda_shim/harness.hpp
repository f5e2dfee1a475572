// Memory and streams for the tests of the shim, by the runtime's own functions; orders to run in.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cuda_shim/control.hpp"
#include "cuda_shim/cuda_shim.hpp"

namespace shim::test {

inline const std::vector<std::string> all_orders = {"forward", "reverse", "random:1", "random:2", "random:3"};

/// Device memory with n numbers.
template <class T>
class Numbers {
 public:
  explicit Numbers(std::size_t n) : n_(n) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)), cudaSuccess);
  }
  explicit Numbers(const std::vector<T>& values) : Numbers(values.size()) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() { cudaFree(data_); }

  T* data() const { return data_; }

  /// Waits for the default stream only.
  std::vector<T> read() const {
    std::vector<T> values(n_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  std::size_t n_;
  T* data_ = nullptr;
};

class StreamHandle {
 public:
  StreamHandle() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  ~StreamHandle() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }  // NOLINT: stands for its handle

 private:
  cudaStream_t stream_ = nullptr;
};

class EventHandle {
 public:
  EventHandle() { EXPECT_EQ(cudaEventCreate(&event_), cudaSuccess); }
  EventHandle(const EventHandle&) = delete;
  EventHandle& operator=(const EventHandle&) = delete;
  ~EventHandle() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }  // NOLINT: stands for its handle

 private:
  cudaEvent_t event_ = nullptr;
};

/// Every test in every order; afterwards nothing may be wrong that the test has not taken.
class InOrder : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_order(Order(GetParam())); }
  void TearDown() override {
    EXPECT_EQ(take_faults(), "");
    set_order({});
  }
};

inline std::string order_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = c == ':' ? '_' : c;
  return name;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace shim::test
