// The calls of the CUDA runtime that the device layer needs, without its header: cuda_api.cpp in builds with CUDA,
// no_cuda.cpp in others. Streams, events and memory are plain pointers here. Private to the device layer.
//
// Whatever fails throws RunError with CUDA's own words. Thread safe as the CUDA runtime is. Functions without an
// `index` act on the calling thread's current device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dsea::cuda {

/// Number of GPUs that can be used; if 0, `reason` says why. Never throws for want of a driver or a GPU.
int device_count(std::string& reason);

/// "NVIDIA A100-SXM4-40GB, compute capability 8.0"
std::string device_name(int index);

/// Where the GPU sits in this machine: "0000:3b:00.0".
std::string pci_address(int index);

/// Makes the GPU current for the calling thread.
void set_device(int index);

/// Call once per GPU before it is used: threads that wait for it shall sleep, not spin. Makes it current.
void prepare(int index);

std::int64_t free_memory();

/// Null when there is not enough memory.
void* allocate(std::size_t bytes, bool pinned);
void release(void* memory, bool pinned) noexcept;

/// Sets device memory to zero and waits for that.
void zero_now(void* memory, std::size_t bytes);

/// Streams do not synchronise with the default stream.
void* make_stream();
void destroy_stream(void* stream) noexcept;
void synchronize(void* stream);

/// Throws if earlier work of the stream has failed; does not wait.
void check_stream(void* stream);

void copy(void* stream, void* to, const void* from, std::size_t bytes);
void zero(void* stream, void* to, std::size_t bytes);
void call_host(void* stream, void (*function)(void*), void* argument);

void* make_event(bool timing);
void destroy_event(void* event) noexcept;
void record(void* event, void* stream);
bool is_done(void* event);
void wait(void* stream, void* event);
double seconds_between(void* begin, void* end);

}  // namespace dsea::cuda
