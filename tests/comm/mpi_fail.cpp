// A program of several ranks that must end with code 3, soon: `fail`: one rank fails while the others wait for it;
// `absent`: one rank never comes to set up the connections, the others give up with an exception.
#include <chrono>
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

}  // namespace

int main(int argc, char** argv) {
  try {
    argc > 1 && std::string(argv[1]) == "absent" ? absent() : fail();
  } catch (const dsea::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
