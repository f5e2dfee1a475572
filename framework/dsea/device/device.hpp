// Where kernels run: the host's threads or one GPU, chosen at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dsea/device/isa.hpp"

namespace dsea {

enum class Backend { host, cuda };

struct DeviceOptions {
  std::string backend = "auto";  ///< "auto": a GPU if there is one, else the host; "host"; "cuda"
  int index = 0;                 ///< which GPU
  int threads = 1;               ///< host: OpenMP threads of a kernel
  std::optional<Isa> isa = {};   ///< host: use a lower instruction set than the machine's best
  bool async_streams = false;    ///< host: each stream has a thread of its own; else work runs at once in the caller
  std::uint64_t delay_seed = 0;  ///< host, async: if not 0, random delays before tasks, and lanes of teams run
                                 ///< backwards: shows forgotten event waits and forgotten phases
};

/// A device. Cheap to copy: copies share one state. All members may be called from several threads.
class Device {
 public:
  /// Throws UsageError if what is asked for is not there (back end, GPU, instruction set) or makes no sense. "auto"
  /// falls back to the host and why() tells the reason.
  static Device open(const DeviceOptions& options = {});

  Backend backend() const;
  bool is_cuda() const { return backend() == Backend::cuda; }
  std::string name() const;     ///< "host, 2 threads, avx2" or the GPU's name
  int index() const;            ///< of the GPU; 0 on the host
  std::string address() const;  ///< PCI address of the GPU, the same in all processes of a machine; empty on the host
  int threads() const;          ///< OpenMP threads of a host kernel; 1 where the framework was built without OpenMP
  Isa isa() const;              ///< of host kernels
  bool async() const;           ///< whether work is queued instead of run in the caller; always true on CUDA
  std::uint64_t delay_seed() const;

  /// Why this back end was chosen: "host: no CUDA device (...)". One line, for the log.
  std::string why() const;

  /// Bytes that may still be allocated, by the device's or the operating system's account.
  std::int64_t memory_available() const;

  /// Makes this GPU the calling thread's current one (cudaSetDevice); nothing on the host. Kernel launches, copies,
  /// streams and buffers do it themselves; a thread that does no more than ask events calls it once, or CUDA would
  /// start up on GPU 0 for it.
  void make_current() const;

 private:
  struct State;
  explicit Device(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace dsea
