// MPI's life in this process. Includes no MPI header; in a library built without MPI all of it links, and says so.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dsea {

class Heartbeat;
struct HeartbeatOptions;

/// Was the library built with MPI?
bool mpi_available();

/// Initialises MPI for use by several threads and finalises it at the end, both in the thread that owns this; at most
/// one for the life of a process. Where MPI is already initialised it is used as it is and left alone at the end. When
/// destroyed by an exception it does not finalise, which could wait for ranks that never come: the launcher then sees a
/// process that ended early and ends the others.
///
/// Throws UsageError if the library was built without MPI, if MPI was finalised before, or if the launcher started
/// several processes of which MPI sees one; RunError if MPI does not support threads.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// The job's heartbeat, which begins with the first call; options of later ones are not looked at. Collective. It
  /// lives until MPI is finalised, so that a rank which ends before others still watches them, and with the session.
  /// While it tells of a failure, the collective members below throw a RunError that names it.
  std::shared_ptr<Heartbeat> heartbeat(const HeartbeatOptions& options);
  /// Ends all processes with this code, wherever they are, and does not return. Any thread.
  [[noreturn]] static void end_job(int exit_code) noexcept;

  /// The smallest of all ranks' numbers, on every rank. Collective; RunError if not all have come within `timeout`.
  int smallest(int mine, std::chrono::nanoseconds timeout) const;
  /// What every rank has brought, by rank, on every rank. Collective; RunError if not all have come within `timeout`.
  std::vector<std::vector<std::byte>> gather_all(std::span<const std::byte> mine,
                                                 std::chrono::nanoseconds timeout) const;
  /// Name and version of the MPI library, for people: "Open MPI v4.1.4".
  const std::string& library() const { return library_; }

 private:
  int rank_ = 0;
  int size_ = 1;
  std::string library_;
  std::shared_ptr<Heartbeat> heartbeat_;
  bool finalize_ = false;
  int exceptions_ = 0;  // under way when this was made
};

}  // namespace dsea
