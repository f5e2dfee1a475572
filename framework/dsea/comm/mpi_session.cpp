#include "dsea/comm/mpi_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
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

/// The ranks that share this machine's memory.
void find_neighbours(int& rank, int& size) {
  MPI_Comm here = MPI_COMM_NULL;
  detail::mpi_check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
                    "looking for the ranks of this machine");
  MPI_Comm_rank(here, &rank);
  MPI_Comm_size(here, &size);
  MPI_Comm_free(&here);  // nothing was sent on it
}

}  // namespace

struct MpiSession::Line {
  MPI_Comm communicator;
};

struct MpiSession::Job {
  std::shared_ptr<Heartbeat> heartbeat;
};

bool mpi_available() { return true; }

MpiSession::MpiSession(const MpiSession& whole, std::chrono::nanoseconds timeout)
    : rank_(whole.rank_),
      size_(whole.size_),
      local_rank_(whole.local_rank_),
      local_size_(whole.local_size_),
      line_(std::make_shared<Line>(Line{detail::mpi_duplicate(whole.line_->communicator, deadline_after(timeout))})),
      library_(whole.library_),
      job_(whole.job_),
      whole_(false) {}

MpiSession::MpiSession()
    : line_(std::make_shared<Line>(Line{MPI_COMM_WORLD})),
      job_(std::make_shared<Job>()),
      exceptions_(std::uncaught_exceptions()) {
  int initialized = 0;
  int finalized = 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) throw UsageError("mpi: MPI was finalised already and cannot be used again in this process");
  library_ = library_name();  // may be asked before MPI is initialised
  if (initialized != 0) {
    detail::mpi_check(MPI_Query_thread(&provided), "asking for the level of thread support");
  } else {
    const std::string refusal = launcher_refusal(find_launcher(), library_);
    if (!refusal.empty()) throw UsageError("mpi: " + refusal);
    detail::mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "initialising");
    finalize_ = true;
  }
  detail::mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "asking for the rank");
  detail::mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "asking for the number of ranks");

  std::string usage = launcher_mismatch(find_launcher(), size_, library_);
  const bool threads = provided >= MPI_THREAD_MULTIPLE;
  if (threads && usage.empty()) {
    find_neighbours(local_rank_, local_size_);
    return;
  }
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
  if (whole_ && job_->heartbeat) job_->heartbeat->finish();
}

std::shared_ptr<Heartbeat> MpiSession::heartbeat(const HeartbeatOptions& options) {
  if (job_->heartbeat) return job_->heartbeat;
  HeartbeatOptions all = options;
  all.last_resort = [](const std::string& why) {
    std::fprintf(stderr, "error: the job is ended: %s\n", why.c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for the launcher to pass it on
    end_job(static_cast<int>(ExitCode::failed));
  };
  const auto exchange = [this](std::span<const std::byte> mine, Clock::time_point deadline) {
    return gather_all(mine, time_left(deadline));
  };
  job_->heartbeat = std::make_shared<Heartbeat>(rank_, size_, exchange, std::move(all));
  return job_->heartbeat;
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
  throw RanksMissing("mpi: not all ranks got as far as this one in time; see what the others say");
}

}  // namespace

void MpiSession::progress() const noexcept {
  int any = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, line_->communicator, &any, MPI_STATUS_IGNORE);
}

int MpiSession::smallest(int mine, std::chrono::nanoseconds timeout) const {
  struct Numbers {
    int mine, result;
  };
  auto numbers = std::make_unique<Numbers>(Numbers{mine, mine});
  MPI_Request request = MPI_REQUEST_NULL;
  detail::mpi_check(
      MPI_Iallreduce(&numbers->mine, &numbers->result, 1, MPI_INT, MPI_MIN, line_->communicator, &request),
      "comparing ranks");
  try {
    finish_together(request, "comparing ranks", deadline_after(timeout), job_->heartbeat);
  } catch (...) {
    static_cast<void>(numbers.release());  // MPI may still write to it
    throw;
  }
  return numbers->result;
}

std::vector<std::vector<std::byte>> MpiSession::gather_all(std::span<const std::byte> mine,
                                                           std::chrono::nanoseconds timeout) const {
  const std::string what = "exchanging what ranks know";
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
      finish_together(request, what, deadline, job_->heartbeat);
    } catch (...) {
      static_cast<void>(memory.release());  // MPI may still write to it
      throw;
    }
  };
  detail::mpi_check(
      MPI_Iallgather(&memory->length, 1, MPI_INT, memory->lengths.data(), 1, MPI_INT, line_->communicator, &request),
      what);
  finish();
  int sum = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    memory->offsets[r] = sum;
    sum += memory->lengths[r];
  }
  memory->all.resize(static_cast<std::size_t>(sum));
  detail::mpi_check(
      MPI_Iallgatherv(memory->mine.data(), memory->length, MPI_BYTE, memory->all.data(), memory->lengths.data(),
                      memory->offsets.data(), MPI_BYTE, line_->communicator, &request),
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

MPI_Comm mpi_duplicate_world(Clock::time_point deadline) { return mpi_duplicate(MPI_COMM_WORLD, deadline); }

MPI_Comm mpi_duplicate(MPI_Comm communicator, Clock::time_point deadline) {
  const std::string what = "duplicating a communicator";
  MPI_Request request = MPI_REQUEST_NULL;
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  mpi_check(MPI_Comm_idup(communicator, made.get(), &request), what);
  if (!mpi_poll(request, what, deadline)) {
    static_cast<void>(made.release());  // MPI may still write to it
    throw RanksMissing("mpi: not all ranks came to set up their connections in time; see what the others say");
  }
  mpi_check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "setting an error handler");
  return *made;
}

}  // namespace detail
}  // namespace dsea
