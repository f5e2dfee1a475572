#include "common/ring_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

#include "common/occupant.hpp"
#include "common/slow_link.hpp"
#include "dsea/comm/local_transport.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "dsea/comm/ucx_transport.hpp"
#include "dsea/ring/ring.hpp"

namespace bench {
namespace {

OccupantShape shape_of(const RingPoint& p) {
  const double seconds = p.at_once ? p.stage_seconds : p.stage_seconds / p.workers;
  const std::int64_t final_words = std::llround(p.payload_bytes / 8 * p.final_share);
  const std::int64_t words = std::max<std::int64_t>(1, std::llround(p.payload_bytes / 8) - final_words);
  return {p.slices, seconds, p.ranks * p.workers, p.supercycles, words, final_words};
}

dsea::PlanRequest request_of(const RingPoint& p) {
  dsea::PlanRequest r;
  r.steps = static_cast<std::int64_t>(p.supercycles) * p.ranks * p.workers;
  r.processes = p.ranks;
  r.workers = p.workers;
  r.at_once = p.at_once;
  r.depth = p.at_once ? 2 : 1;
  r.rate = p.workers / p.stage_seconds;
  r.bandwidth = p.bandwidth > 0 ? p.bandwidth : 1e15;
  return r;
}

/// What a rank knows beside the ring's own report. Plain bytes, sent to rank 0.
struct Times {
  double link_seconds = 0;
  double steady_seconds = 0;  ///< between the ends of the first and the last super-cycle but one; of the last rank
};

/// One rank: its program, ring and link.
class Rank {
 public:
  Rank(const RingPoint& point, const dsea::RingPlan& plan, const dsea::Device& device,
       std::unique_ptr<dsea::Transport> transport)
      : ends_(std::make_shared<std::vector<double>>()),
        program_(shape_of(point), ends_),
        problem_(program_.problem()),
        link_(std::move(transport), point.link_stages ? plan.request().bandwidth.value() : 0.0) {
    dsea::RingOptions options;
    // Behind a full ring a rank waits for nearly a super-cycle without any progress of its own.
    options.watchdog_seconds = 60 + 4 * plan.fill_seconds() + 4 * plan.stage_seconds() * point.slices;
    ring_ = std::make_unique<dsea::Ring>(program_, problem_, plan, options, device, link_, log_);
  }

  dsea::RingOutcome run() { return ring_->run(); }
  Times times() const { return {link_.busy_seconds(), *(ends_->end() - 2) - ends_->front()}; }

 private:
  CycleEnds ends_;
  dsea::ProgramOf<Occupant> program_;
  dsea::Problem problem_;
  SlowLink link_;
  dsea::Log log_;
  std::unique_ptr<dsea::Ring> ring_;
};

/// All ranks as threads.
dsea::RingOutcome run_threads(const RingPoint& point, const dsea::RingPlan& plan, const dsea::Device& device,
                              std::vector<Times>& times) {
  std::vector<std::unique_ptr<Rank>> ranks;  // outlive all threads: others copy from their memory
  for (auto& transport : dsea::make_local_transports(point.ranks)) {
    ranks.push_back(std::make_unique<Rank>(point, plan, device, std::move(transport)));
  }
  dsea::RingOutcome outcome;
  std::exception_ptr error;
  {
    std::vector<std::jthread> others;
    for (std::size_t r = 1; r < ranks.size(); ++r) {
      others.emplace_back([&ranks, r] {
        try {
          ranks[r]->run();
        } catch (const dsea::Error&) {  // has been logged, and stops rank 0
        }
      });
    }
    try {
      outcome = ranks[0]->run();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  for (const auto& rank : ranks) times.push_back(rank->times());
  return outcome;
}

dsea::RingOutcome run_process(const RingPoint& point, const dsea::RingPlan& plan, const dsea::Device& device,
                              dsea::MpiSession& session, std::vector<Times>& times) {
  auto transport = point.transport == "ucx" ? dsea::make_ucx_transport(session, {.rails = point.rails})
                                            : dsea::make_mpi_transport(session);
  Rank rank(point, plan, device, std::move(transport));
  dsea::RingOutcome outcome = rank.run();
  const Times mine = rank.times();
  for (const auto& bytes : session.gather_all(std::as_bytes(std::span(&mine, 1)), std::chrono::minutes(2))) {
    std::memcpy(&times.emplace_back(), bytes.data(), sizeof mine);
  }
  return outcome;
}

}  // namespace

dsea::RingPlan plan_of(const RingPoint& p) {
  dsea::PlanRequest request = request_of(p);
  const dsea::Problem problem = Occupant(shape_of(p)).problem();
  if (p.link_stages) {
    const dsea::RingPlan plan(problem, request);
    request.bandwidth = static_cast<double>(plan.wire_bytes()) / (*p.link_stages * p.stage_seconds);
  }
  return {problem, request};
}

RingMeasured measure(const RingPoint& point, dsea::MpiSession* session) {
  if (point.supercycles < 3)
    throw dsea::UsageError("the first and the last super-cycle are not measured: run 3 or more");
  const dsea::RingPlan plan = plan_of(point);
  const auto device = dsea::Device::open({.backend = "host", .async_streams = point.at_once});
  std::vector<Times> times;
  const dsea::RingOutcome outcome =
      session != nullptr ? run_process(point, plan, device, *session, times) : run_threads(point, plan, device, times);
  RingMeasured m;
  if (session != nullptr && session->rank() != 0) return m;
  const std::int64_t steps = plan.request().steps;
  if (outcome.digest != static_cast<std::uint64_t>(point.slices * steps)) {
    throw dsea::RunError(dsea::cat("the ring left the state ", outcome.digest, " after ", steps, " steps of ",
                                   point.slices, " slices: it has lost or repeated work"));
  }
  m.rate = static_cast<double>(point.slices) * plan.positions() * (point.supercycles - 2) / times.back().steady_seconds;
  m.wall_seconds = outcome.wall_seconds;
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
    const dsea::RankReport& report = outcome.ranks[r];
    const double worker = report.kernel_seconds / static_cast<double>(report.stages);
    m.work_seconds = std::max(m.work_seconds, point.at_once ? worker : worker * point.workers);
    if (report.sent > 0)
      m.link_seconds = std::max(m.link_seconds, times[r].link_seconds / static_cast<double>(report.sent));
  }
  return m;
}

}  // namespace bench
