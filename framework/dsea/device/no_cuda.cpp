#include "dsea/device/cuda_api.hpp"

#if !defined(DSEA_HAVE_CUDA)

#include "dsea/base/error.hpp"

namespace dsea::cuda {

namespace {

/// Device::open refuses CUDA in such a build, so nothing else is ever called.
[[noreturn]] void missing() { throw RunError("this program was built without CUDA: build it with the cuda preset"); }

}  // namespace

int device_count(std::string& reason) {
  reason = "this program was built without CUDA";
  return 0;
}

std::string device_name(int) { missing(); }
std::string pci_address(int) { missing(); }
void set_device(int) { missing(); }
void prepare(int) { missing(); }
std::int64_t free_memory() { missing(); }
void* allocate(std::size_t, bool) { missing(); }
void release(void*, bool) noexcept {}
void zero_now(void*, std::size_t) { missing(); }
void* make_stream() { missing(); }
void destroy_stream(void*) noexcept {}
void synchronize(void*) { missing(); }
void check_stream(void*) { missing(); }
void copy(void*, void*, const void*, std::size_t) { missing(); }
void zero(void*, void*, std::size_t) { missing(); }
void call_host(void*, void (*)(void*), void*) { missing(); }
void* make_event(bool) { missing(); }
void destroy_event(void*) noexcept {}
void record(void*, void*) { missing(); }
bool is_done(void*) { missing(); }
void wait(void*, void*) { missing(); }
double seconds_between(void*, void*) { missing(); }

}  // namespace dsea::cuda

#endif
