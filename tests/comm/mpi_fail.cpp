// A program of several ranks that must end with code 3, soon: `fail`: one rank fails while the others wait for it;
// `absent`: one rank never comes to set up the connections, the others give up with an exception; `stopped`: one rank
// is stopped while the others have much patience; `stopped_at_the_end`: or when they wait for it to finalise MPI.
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>

#include "dsea/base/error.hpp"
#include "dsea/comm/mpi_transport.hpp"

namespace {

void fail() {
  dsea::MpiSession session;
  const auto transport = dsea::make_mpi_transport(session);
  std::byte byte{};
  const dsea::Segment segment{&byte, 1, false};
  transport->from_previous().start({&segment, 1});
  if (session.rank() == 1) {
    transport->from_previous().wait(std::chrono::milliseconds(200));
    std::fputs("rank 1 has a reason\n", stderr);
    transport->fail(3, "rank 1 has a reason");
  }
  while (!transport->from_previous().wait(std::chrono::seconds(1))) continue;
}

void absent() {
  dsea::MpiSession session;
  if (session.rank() == 1) std::this_thread::sleep_for(std::chrono::hours(1));
  const auto transport = dsea::make_mpi_transport(session, {.start_timeout = std::chrono::milliseconds(200)});
}

void stopped(bool at_the_end) {
  dsea::MpiSession session;
  const auto transport = dsea::make_mpi_transport(session, {.heartbeat = {.link_timeout = std::chrono::seconds(1)}});
  if (session.rank() == 1) std::raise(SIGSTOP);
  if (!at_the_end) session.smallest(0, std::chrono::minutes(10));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "fail") fail();
    if (what == "absent") absent();
    if (what.starts_with("stopped")) stopped(what == "stopped_at_the_end");
  } catch (const dsea::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
