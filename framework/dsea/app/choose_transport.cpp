#include "dsea/app/choose_transport.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "dsea/app/all_ranks.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "dsea/comm/nccl_transport.hpp"
#include "dsea/comm/ucx_trial.hpp"

namespace dsea {
namespace {

constexpr std::chrono::seconds patience_for_ranks(120);

/// A link that is cut meanwhile is given up as one that is cut later.
LinkProbeOptions probe_options(MpiSession& session) {
  LinkProbeOptions options;
  options.silence = session.heartbeat({})->link_timeout() + std::chrono::seconds(2);
  return options;
}

/// The least of all ranks' speeds; to 0.1 MB/s.
double slowest_link(const MpiSession& session, const LinkSpeed& mine) {
  constexpr double unit = 1e5;
  constexpr double most = std::numeric_limits<int>::max();
  const int least =
      session.smallest(static_cast<int>(std::min(mine.bytes_per_second / unit, most)), patience_for_ranks);
  return least * unit;
}

/// Does something with ucx that may fail on some ranks. The cause on the lowest rank that failed, on every rank; empty
/// if all are well.
template <class Step>
std::string cause_on_any_rank(const MpiSession& session, const Step& step, const std::string& before = {}) {
  std::string cause, missed;
  try {
    step();
  } catch (const RanksMissing& e) {
    missed = e.what();
  } catch (const std::exception& e) {
    cause = e.what();
    while (cause.starts_with("ucx: ")) cause.erase(0, 5);  // the line says so
  }
  const auto all = texts_of_all(session, {cause, missed});
  for (const std::size_t kind : {0U, 1U}) {
    for (const auto& texts : all) {
      if (!texts.at(kind).empty()) return before + texts[kind];
    }
  }
  return {};
}

/// Over a line of its own: where it fails on some ranks only, the others leave their collective calls late.
ChosenTransport make_ucx(const MpiSession& session, UcxOptions options, std::chrono::nanoseconds start_timeout) {
  ChosenTransport c;
  c.line = std::make_unique<MpiSession>(session, patience_for_ranks);
  options.start_timeout = start_timeout;
  c.transport = make_ucx_transport(*c.line, options);
  return c;
}

/// Both, one after the other; the slower one goes.
ChosenTransport faster_transport(MpiSession& session, const TransportRequest& request) {
  ChosenTransport mpi, ucx;
  mpi.transport = make_mpi_transport(session, {.device = request.device});
  mpi.from_previous = probe_link(*mpi.transport, probe_options(session));
  const double mpi_speed = slowest_link(session, mpi.from_previous);
  double ucx_speed = 0;
  std::string cause = cause_on_any_rank(session, [] {
    if (!ucx_available()) throw RunError("is not in this build");
  });
  if (cause.empty()) {
    const auto alone = [&] {
      if (const std::string none = try_ucx(request.ucx.rails); !none.empty()) throw RunError(none);
    };
    cause = cause_on_any_rank(session, alone, "failed: ");
  }
  if (cause.empty()) {
    cause = cause_on_any_rank(
        session, [&] { ucx = make_ucx(session, request.ucx, std::chrono::seconds(20)); }, "failed: ");
  }
  if (cause.empty()) {
    cause = cause_on_any_rank(
        session, [&] { ucx.from_previous = probe_link(*ucx.transport, probe_options(session)); }, "failed: ");
  }
  if (cause.empty()) ucx_speed = slowest_link(session, ucx.from_previous);
  const TransportChoice choice = choose_transport(mpi_speed, ucx_speed, cause, !request.ucx.rails.empty());
  ChosenTransport& chosen = choice.ucx ? ucx : mpi;
  chosen.why = choice.why;
  return std::move(chosen);
}

}  // namespace

TransportChoice choose_transport(double mpi, double ucx, const std::string& no_ucx, bool rails) {
  constexpr double about_the_same = 1.05;
  const std::string in_vain = rails ? ", so ring.rails is not used" : "";
  if (!no_ucx.empty()) return {false, cat("transport mpi: ucx ", no_ucx, in_vain)};
  const bool take_ucx = rails ? about_the_same * ucx >= mpi : ucx > about_the_same * mpi;
  const auto speed = [](double bytes) { return si_text(bytes) + "B/s"; };
  return {take_ucx, cat("transport ", take_ucx ? "ucx: " : "mpi: ", speed(take_ucx ? ucx : mpi),
                        " to the next rank at the slowest link, ", take_ucx ? "mpi " : "ucx ",
                        speed(take_ucx ? mpi : ucx), take_ucx ? "" : in_vain)};
}

ChosenTransport make_transport(MpiSession& session, const TransportRequest& request) {
  // A candidate for "auto" needs a probe that works, and a case in choose_transport().
  const bool choose = request.name == "auto", several = session.size() > 1;
  const bool measure = request.measure && several;
  if (choose && measure) return faster_transport(session, request);
  ChosenTransport c;
  if (request.name == "ucx" || (choose && several && !request.ucx.rails.empty() && ucx_available())) {
    c = make_ucx(session, request.ucx, patience_for_ranks);
    if (choose) c.why = "transport ucx: not measured: ring.rails is set";
  } else if (request.name == "nccl" && request.device) {
    c.transport = make_nccl_transport(session, *request.device);
    return c;  // not measured: the probe's memory is the host's
  } else {
    c.transport = make_mpi_transport(session, {.device = request.device});
    if (choose) c.why = several ? "transport mpi: not measured" : "transport mpi: there is one rank only";
  }
  if (measure) c.from_previous = probe_link(*c.transport, probe_options(session));
  return c;
}

}  // namespace dsea
