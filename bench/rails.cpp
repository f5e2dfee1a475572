// How fast slices travel between nodes: every rank sends slices to the next one and receives from the one before, for
// some seconds. Started by mpirun on several nodes, as bench/rails.py does on the emulated cluster.
//
// rails [bytes=10e6] [seconds=4] [transport=ucx|mpi] [rails=rail0,rail1] [relays=0|1]
//   prints one line of JSON on rank 0: bytes a second of the slowest and of all links between nodes, processor time
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "common/sample.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/signal.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "dsea/comm/ucx_transport.hpp"

namespace {

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// What a rank measured.
struct Result {
  double slices_per_second = 0, processor = 0;
  char host[64] = {};
};

/// Slices that a rank may be ahead of what it has received: as in a ring, all links are as fast as the slowest.
constexpr int slots = 3;

/// Waits for a port to its end, with a limit.
template <class Port>
void finish(Port& port, double limit) {
  while (!port.wait(std::chrono::milliseconds(50))) {
    if (bench::now() > limit) throw dsea::RunError("the network is too slow for this measurement");
  }
}

/// Streams slices in both directions, by a thread each, as a ring does. A slice that says so is the last; it goes
/// around behind all others.
Result stream(dsea::Transport& transport, std::vector<std::byte>& out, std::vector<std::byte>& in, double seconds) {
  const dsea::Segment from{out.data(), out.size(), false}, to{in.data(), in.size(), false};
  const std::byte last{2};
  const double limit = bench::now() + 20 * seconds + 60;
  const bool first = transport.rank() == 0;
  std::atomic<int> received{0};
  std::atomic<bool> received_last{false};
  std::atomic<double> start{0};
  dsea::Signal moved;
  Result result;
  std::exception_ptr error;
  {
    std::jthread receiver([&] {
      try {
        double processor = 0;
        int warm = 0;
        while (!received_last) {
          transport.from_previous().start({&to, 1});
          finish(transport.from_previous(), limit);
          if (++received == slots) {
            processor = processor_seconds();
            warm = received;
            start = bench::now();
          }
          received_last = in[0] == last;
          moved.notify();
        }
        result.slices_per_second = (received - warm) / (bench::now() - start);
        result.processor = (processor_seconds() - processor) / (bench::now() - start);
      } catch (...) {
        error = std::current_exception();
        received_last = true;
        moved.notify();
      }
    });
    for (int sent = 0;; ++sent) {
      for (std::uint64_t seen = moved.now(); sent >= received + slots && !received_last; seen = moved.now()) {
        moved.wait_past(seen, std::chrono::milliseconds(100));
      }
      // Rank 0 says when it ends, the others pass it on.
      const bool ends = first ? start > 0 && bench::now() - start > seconds : received_last.load();
      out[0] = ends ? last : std::byte{1};
      transport.to_next().start({&from, 1});
      finish(transport.to_next(), limit);
      if (ends) break;
    }
  }
  if (error) std::rethrow_exception(error);
  return result;
}

int run(int argc, char** argv) {
  std::map<std::string, std::string> given{
      {"bytes", "10e6"}, {"seconds", "4"}, {"transport", "ucx"}, {"rails", ""}, {"relays", "0"}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || !given.contains(argument.substr(0, equals))) {
      throw dsea::UsageError(dsea::cat("unknown argument '", argument, "'"));
    }
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  const auto bytes = static_cast<std::size_t>(std::stod(given["bytes"]));
  std::vector<std::byte> out(bytes, std::byte{1}), in(bytes);  // outlive the transport, which may still use them
  dsea::MpiSession session;
  if (session.size() == 1) throw dsea::UsageError("one rank has no link: start several, by mpirun -n N");
  std::unique_ptr<dsea::Transport> transport;
  if (given["transport"] == "mpi") {
    transport = dsea::make_mpi_transport(session);
  } else {
    dsea::UcxOptions options;
    std::istringstream names(given["rails"]);
    for (std::string name; std::getline(names, name, ',');) options.rails.push_back(name);
    options.relays = given["relays"] == "1";
    options.warn = [](const std::string& text) { std::fprintf(stderr, "warning: %s\n", text.c_str()); };
    transport = dsea::make_ucx_transport(session, options);
  }
  if (session.rank() == 0) std::fprintf(stderr, "%s\n", transport->describe().c_str());

  Result mine = stream(*transport, out, in, std::stod(given["seconds"]));
  std::snprintf(mine.host, sizeof mine.host, "%s", dsea::host_name().c_str());
  const auto all = transport->gather(std::as_bytes(std::span(&mine, 1)), std::chrono::seconds(60));
  transport->finish(std::chrono::seconds(60));
  std::string rails;
  for (const dsea::RailTraffic& rail : transport->rails()) {
    rails += dsea::cat(rails.empty() ? "" : ", ", "\"", rail.name, "\": ", rail.bytes);
  }
  if (session.rank() != 0) return 0;
  std::vector<Result> results(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) std::memcpy(&results[r], all[r].data(), sizeof(Result));
  double slowest = 1e300, processor = 0;
  int links = 0;
  for (std::size_t r = 0; r < results.size(); ++r) {
    processor += results[r].processor;
    const Result& receiver = results[(r + 1) % results.size()];
    if (std::strcmp(results[r].host, receiver.host) == 0) continue;
    slowest = std::min(slowest, receiver.slices_per_second * static_cast<double>(bytes));
    ++links;
  }
  std::printf(
      "{\"transport\": \"%s\", \"ranks\": %d, \"links\": %d, \"bytes\": %zu, \"slowest\": %.6g, \"processor\": %.4g, "
      "\"rank0_rails\": {%s}}\n",
      transport->name().c_str(), session.size(), links, bytes, links > 0 ? slowest : 0, processor, rails.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const dsea::Error& e) {
    std::fprintf(stderr, "rails: error: %s\n", e.what());
    return static_cast<int>(e.exit_code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rails: error: %s\n", e.what());
    return 3;
  }
}
