#include "dsea/comm/mpi_device_memory.hpp"

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/mpi_detail.hpp"
#include "dsea/device/buffer.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {
namespace {

constexpr const char* device_memory_setting = "DSEA_MPI_DEVICE_MEMORY";

std::string_view environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// One message from each rank's device memory to the next rank's; true if the bytes arrived.
bool ping(const Device& device, int rank, int size, std::size_t bytes, Clock::time_point deadline) {
  const std::string what = "sending device memory for a try";
  struct Memory2 {
    Buffer out, in;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };
  const auto pattern = [&](int from) {
    std::vector<unsigned char> all(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      all[i] = static_cast<unsigned char>(i * 13 + static_cast<std::size_t>(from));
    return all;
  };
  auto memory = std::make_unique<Memory2>();
  memory->out = Buffer(device, bytes, Memory::device);
  memory->in = Buffer(device, bytes, Memory::device);
  Stream stream(device, "mpi try");
  const auto mine = pattern(rank);
  copy(stream, memory->out.data(), mine.data(), bytes);
  stream.synchronize();

  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  const MPI_Comm communicator = detail::mpi_duplicate_world(deadline);
  const int count = static_cast<int>(bytes);
  detail::mpi_check(MPI_Irecv(memory->in.data(), count, MPI_BYTE, previous, 1, communicator, &memory->requests[0]),
                    what);
  detail::mpi_check(MPI_Isend(memory->out.data(), count, MPI_BYTE, next, 1, communicator, &memory->requests[1]), what);
  for (MPI_Request& request : memory->requests) {
    if (detail::mpi_poll(request, what, deadline)) continue;
    static_cast<void>(memory.release());  // MPI may still write to it
    throw RunError("mpi: " + what + " took too long; DSEA_MPI_DEVICE_MEMORY=no does without it");
  }
  std::vector<unsigned char> got(bytes);
  copy(stream, got.data(), memory->in.data(), bytes);
  stream.synchronize();
  return got == pattern(previous);
}

}  // namespace

MpiDeviceAnswer ask_mpi_for_device_memory(const std::string& library) {
  const std::string_view set = environment_text(device_memory_setting);
  if (set == "yes" || set == "no") return {set == "yes", cat(device_memory_setting, " is ", set)};
  if (!set.empty()) return {false, cat(device_memory_setting, " is '", set, "', which is neither yes nor no")};
#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return {true, library + " says it has CUDA support"};
  return {false, library + " was built without CUDA support"};
#else
  // Cray MPICH and MVAPICH are told by the environment, when they start.
  for (const char* name : {"MPICH_GPU_SUPPORT_ENABLED", "MPIR_CVAR_ENABLE_GPU", "MV2_USE_CUDA", "MVP_USE_CUDA"}) {
    if (environment_text(name) == "1") return {true, cat(name, " is 1")};
  }
  return {false,
          cat(library, " does not tell whether it has CUDA support; ", device_memory_setting, "=yes says that it has")};
#endif
}

MpiDeviceAnswer try_mpi_device_memory(const MpiSession& session, const std::optional<Device>& device,
                                      MpiDeviceMemory belief, std::chrono::nanoseconds timeout) {
  MpiDeviceAnswer answer{belief == MpiDeviceMemory::yes, "it was asked for"};
  if (!device || (!device->is_cuda() && belief == MpiDeviceMemory::ask)) {
    answer = {false, "no GPU is used"};
  } else if (belief == MpiDeviceMemory::ask) {
    answer = ask_mpi_for_device_memory(session.library());
  }
  const bool mine = answer.yes;
  if (session.smallest(mine ? 1 : 0, timeout) == 0) {
    if (mine) answer = {false, "not all ranks can"};
    return answer;
  }
  const Clock::time_point deadline = deadline_after(timeout);
  bool well = true;
  std::string error;
  // Short messages and long ones take different ways through the library.
  for (const std::size_t bytes : {std::size_t{1} << 10, std::size_t{1} << 20}) {
    try {
      well = ping(*device, session.rank(), session.size(), bytes, deadline) && well;
    } catch (const RunError& e) {
      error = e.what();
      well = false;
      break;
    }
  }
  if (session.smallest(well ? 1 : 0, timeout) != 0) return {true, cat("tried: ", answer.why)};
  if (!error.empty()) throw RunError(error);
  return {false, cat("tried, and other bytes came than were sent, though ", answer.why)};
}

}  // namespace dsea
