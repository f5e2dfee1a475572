// MPI's life in this process. Includes no MPI header; in a library built without MPI all of it links, and says so.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dsea/base/error.hpp"

namespace dsea {

/// Other ranks did not come to something that needs all: the cause is with them.
class RanksMissing : public RunError {
 public:
  using RunError::RunError;
};

class Heartbeat;
struct HeartbeatOptions;

/// Was the library built with MPI?
bool mpi_available();

/// Initialises MPI for use by several threads and finalises it at the end, both in the thread that owns this; at most
/// one for the life of a process, and with all ranks. Where MPI is already initialised it is used as it is and left
/// alone at the end. When destroyed by an exception it does not finalise, which could wait for ranks that never come:
/// the launcher then sees a process that ended early and ends the others.
///
/// Throws UsageError if the library was built without MPI, if MPI was finalised before, or if the launcher started
/// several processes of which MPI sees one; RunError if MPI does not support threads.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  /// The same processes with a line of their own: what fails in the collective calls of one session leaves those of the
  /// other in order. Collective over `whole`, which must outlive this; RanksMissing if not all have come in time.
  MpiSession(const MpiSession& whole, std::chrono::nanoseconds timeout);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Place among, and number of, the ranks that share this machine's memory.
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }

  /// The job's heartbeat, which begins with the first call; options of later ones are not looked at. Collective. It
  /// lives until MPI is finalised, so that a rank which ends before others still watches them, and with the session.
  /// While it tells of a failure, the collective members below throw a RunError that names it.
  std::shared_ptr<Heartbeat> heartbeat(const HeartbeatOptions& options);
  /// Ends all processes with this code, wherever they are, and does not return. Any thread.
  [[noreturn]] static void end_job(int exit_code) noexcept;

  /// Lets MPI work off its queues: bytes of a message that is called complete may still wait for somebody who calls
  /// MPI. Any thread.
  void progress() const noexcept;

  /// The smallest of all ranks' numbers, on every rank. Collective; RanksMissing if not all have come within `timeout`.
  int smallest(int mine, std::chrono::nanoseconds timeout) const;
  /// What every rank has brought, by rank, on every rank. Collective; RanksMissing if not all have come within
  /// `timeout`.
  std::vector<std::vector<std::byte>> gather_all(std::span<const std::byte> mine,
                                                 std::chrono::nanoseconds timeout) const;
  /// Name and version of the MPI library, for people: "Open MPI v4.1.4".
  const std::string& library() const { return library_; }

 private:
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  struct Line;  // an MPI communicator
  std::shared_ptr<const Line> line_;
  std::string library_;
  struct Job;  // what sessions over the same processes share
  std::shared_ptr<Job> job_;
  bool whole_ = true;  // not a further line
  bool finalize_ = false;
  int exceptions_ = 0;  // under way when this was made
};

}  // namespace dsea
