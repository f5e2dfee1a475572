// What mpi_*.cpp define, in a library built without MPI.
#ifndef DSEA_HAVE_MPI

#include <cstdlib>

#include "dsea/base/error.hpp"
#include "dsea/comm/heartbeat.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/mpi_transport.hpp"

namespace dsea {
namespace {

[[noreturn]] void refuse() {
  throw UsageError(
      "transport mpi is not in this build: install an MPI library and configure with -DDSEA_MPI=ON, or use transport "
      "local");
}

}  // namespace

bool mpi_available() { return false; }

MpiSession::MpiSession() { refuse(); }
MpiSession::MpiSession(const MpiSession&, std::chrono::nanoseconds) { refuse(); }
MpiSession::~MpiSession() = default;
std::shared_ptr<Heartbeat> MpiSession::heartbeat(const HeartbeatOptions&) { refuse(); }
void MpiSession::end_job(int exit_code) noexcept { std::_Exit(exit_code); }
void MpiSession::progress() const noexcept {}
int MpiSession::smallest(int, std::chrono::nanoseconds) const { refuse(); }

std::vector<std::vector<std::byte>> MpiSession::gather_all(std::span<const std::byte>, std::chrono::nanoseconds) const {
  refuse();
}

std::unique_ptr<Transport> make_mpi_transport(MpiSession&, const MpiOptions&) { refuse(); }

}  // namespace dsea

#endif
