#include "dsea/comm/mpi_session.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "dsea/base/backoff.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/base/threads.hpp"
#include "dsea/comm/heartbeat.hpp"
#include "dsea/comm/launcher.hpp"
#include "dsea/comm/mpi_detail.hpp"

namespace dsea {
namespace {

/// "Open MPI v4.1.4, package: ..." -> "Open MPI v4.1.4"; "MPICH Version:\t4.0.2\nMPICH ..." -> "MPICH Version: 4.0.2".
std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  detail::mpi_check(MPI_Get_library_version(text.data(), &length), "asking for the library's version");
  std::string name(text.data(), static_cast<std::size_t>(length));
  name = name.substr(0, name.find_first_of(",\n"));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

}  // namespace

bool mpi_available() { return true; }

MpiSession::MpiSession() : exceptions_(std::uncaught_exceptions()) {
  int initialized = 0;
  int finalized = 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) throw UsageError("mpi: MPI was finalised already and cannot be used again in this process");
  if (initialized != 0) {
    detail::mpi_check(MPI_Query_thread(&provided), "asking for the level of thread support");
  } else {
    detail::mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "initialising");
    finalize_ = true;
  }
  detail::mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "asking for the rank");
  detail::mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "asking for the number of ranks");
  library_ = library_name();

  std::string usage = launcher_mismatch(find_launcher(), size_, library_);
  const bool threads = provided >= MPI_THREAD_MULTIPLE;
  if (threads && usage.empty()) return;
  if (finalize_) MPI_Finalize();  // the same on all ranks; the destructor does not run
  if (!usage.empty()) throw UsageError("mpi: " + usage);
  throw RunError(cat("mpi: ", library_, " gives thread level ", provided, " where MPI_THREAD_MULTIPLE (",
                     MPI_THREAD_MULTIPLE, ") is needed: use a library built with it, or initialise with it"));
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() > exceptions_) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalize_ && finalized == 0) MPI_Finalize();
  if (heartbeat_) heartbeat_->finish();
}

std::shared_ptr<Heartbeat> MpiSession::heartbeat(const HeartbeatOptions& options) {
  if (heartbeat_) return heartbeat_;
  HeartbeatOptions all = options;
  all.last_resort = [] { end_job(static_cast<int>(ExitCode::failed)); };
  const auto exchange = [this](std::span<const std::byte> mine, Clock::time_point deadline) {
    return gather_all(mine, time_left(deadline));
  };
  heartbeat_ = std::make_shared<Heartbeat>(rank_, size_, exchange, std::move(all));
  return heartbeat_;
}

void MpiSession::end_job(int exit_code) noexcept {
  // MPI_Abort may wait for a launcher that is out of reach, and a stream for a thread that hangs.
  try {
    std::thread([exit_code] {
      block_signals();
      std::this_thread::sleep_for(std::chrono::seconds(5));
      std::_Exit(exit_code);
    }).detach();
  } catch (const std::exception&) {
    std::_Exit(exit_code);
  }
  std::fflush(nullptr);
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);  // in case the library only asks for the end
}

namespace {

/// To a time limit, or until a rank is known to have failed; RunError then.
void finish_together(MPI_Request& request, const std::string& what, Clock::time_point deadline,
                     const std::shared_ptr<Heartbeat>& heartbeat) {
  const auto failed = [&] { return heartbeat && heartbeat->failed(); };
  if (detail::mpi_poll(request, what, deadline, failed)) return;
  if (failed()) throw RunError(heartbeat->why());
  throw RunError("mpi: not all ranks got as far as this one in time; see what the others say");
}

}  // namespace

int MpiSession::smallest(int mine, std::chrono::nanoseconds timeout) const {
  struct Numbers {
    int mine, result;
  };
  auto numbers = std::make_unique<Numbers>(Numbers{mine, mine});
  MPI_Request request = MPI_REQUEST_NULL;
  detail::mpi_check(MPI_Iallreduce(&numbers->mine, &numbers->result, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request),
                    "comparing ranks");
  try {
    finish_together(request, "comparing ranks", deadline_after(timeout), heartbeat_);
  } catch (...) {
    static_cast<void>(numbers.release());  // MPI may still write to it
    throw;
  }
  return numbers->result;
}

std::vector<std::vector<std::byte>> MpiSession::gather_all(std::span<const std::byte> mine,
                                                           std::chrono::nanoseconds timeout) const {
  const std::string what = "exchanging addresses";
  const auto ranks = static_cast<std::size_t>(size_);
  struct Exchange {
    int length = 0;
    std::vector<int> lengths, offsets;
    std::vector<std::byte> mine, all;
  };
  auto memory = std::make_unique<Exchange>();
  memory->length = static_cast<int>(mine.size());
  memory->lengths.resize(ranks);
  memory->offsets.resize(ranks);
  memory->mine.assign(mine.begin(), mine.end());
  const Clock::time_point deadline = deadline_after(timeout);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto finish = [&] {
    try {
      finish_together(request, what, deadline, heartbeat_);
    } catch (...) {
      static_cast<void>(memory.release());  // MPI may still write to it
      throw;
    }
  };
  detail::mpi_check(
      MPI_Iallgather(&memory->length, 1, MPI_INT, memory->lengths.data(), 1, MPI_INT, MPI_COMM_WORLD, &request), what);
  finish();
  int sum = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    memory->offsets[r] = sum;
    sum += memory->lengths[r];
  }
  memory->all.resize(static_cast<std::size_t>(sum));
  detail::mpi_check(MPI_Iallgatherv(memory->mine.data(), memory->length, MPI_BYTE, memory->all.data(),
                                    memory->lengths.data(), memory->offsets.data(), MPI_BYTE, MPI_COMM_WORLD, &request),
                    what);
  finish();
  std::vector<std::vector<std::byte>> result;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto first = memory->all.begin() + memory->offsets[r];
    result.emplace_back(first, first + memory->lengths[r]);
  }
  return result;
}

namespace detail {

void mpi_check(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw RunError(cat("mpi: ", what, " failed: ",
                     length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : cat("error ", code)));
}

bool mpi_poll(MPI_Request& request, const std::string& what, Clock::time_point deadline,
              const std::function<bool()>& give_up) {
  for (Backoff backoff;;) {
    int done = 0;
    mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return true;
    const auto left = time_left(deadline);
    if (left.count() == 0 || (give_up && give_up())) return false;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(backoff.next(), left));
  }
}

MPI_Comm mpi_duplicate_world(Clock::time_point deadline) {
  const std::string what = "duplicating a communicator";
  MPI_Request request = MPI_REQUEST_NULL;
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  mpi_check(MPI_Comm_idup(MPI_COMM_WORLD, made.get(), &request), what);
  if (!mpi_poll(request, what, deadline)) {
    static_cast<void>(made.release());  // MPI may still write to it
    throw RunError("mpi: not all ranks came to set up their connections in time; see what the others say");
  }
  mpi_check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "setting an error handler");
  return *made;
}

}  // namespace detail
}  // namespace dsea
