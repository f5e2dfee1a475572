// Strong scaling of the real ring against RingPlan: workers that occupy their devices for a given time without using a
// core, so that many ranks run honestly on few cores.
//
// ring [FILE.jsonl [KEY=VALUE ...]]          the whole sweep, ranks as threads
// mpirun -n N ring FILE.jsonl KEY=VALUE ...  one measurement for each number of workers, ranks as processes
//   ranks=4,8  workers=1,2  slices=24  cycles=4  at_once=1   what is run; threads unless started by mpirun
//   stage=0.05     seconds that a worker needs for a slice
//   link=0.9       stages that a link takes for a slice; links are held back to it, 0: as fast as they are
//   final=0.8      share of a slice's payload that is final early, and so goes ahead of it; with payload=1e5 or more
//   payload=4.8e6  bytes of a slice; bandwidth=48e6: bytes a second that the plan expects of links as fast as they are
//   transport=mpi|ucx rails=eth0,eth1    under mpirun
//   append=1       adds to the file
// Exit code 3 if a measured rate is more than 10 % off the plan's, or something else limits it than the plan says.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "common/occupant.hpp"
#include "common/ring_point.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/comm/launcher.hpp"

namespace {

using bench::RingMeasured;
using bench::RingPoint;
using dsea::cat;
using dsea::Limit;

constexpr double tolerance = 0.1;

const char* text_of(Limit limit) {
  return limit == Limit::slices ? "slices" : limit == Limit::work ? "workers" : "links";
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

double number_of(const std::string& key, const std::string& text) {
  std::istringstream in(text);
  double value = 0;
  if (!(in >> value) || in.peek() != EOF || value < 0) throw dsea::UsageError(cat(key, ": '", text, "' is no number"));
  return value;
}

class Bench {
 public:
  Bench(const std::string& file, bool append, dsea::MpiSession* session) : session_(session) {
    if (file.empty() || !first()) return;
    out_.open(file, append ? std::ios::app : std::ios::trunc);
    if (!out_) throw dsea::UsageError(cat("cannot write ", file));
  }

  void head() const {
    if (first())
      std::printf("%-12s %5s %7s %6s %9s %9s %9s %7s  %-16s %9s %9s\n", "case", "ranks", "workers", "N_max", "plan",
                  "measured", "ratio", "busy", "limit: plan, met", "work ms", "link ms");
  }

  /// `exact`: the plan at its expected times instead of N_max alone, which counts links as slow as a stage.
  void point(const std::string& name, const RingPoint& p, bool exact) {
    const dsea::RingPlan plan = bench::plan_of(p);
    RingMeasured m = bench::measure(p, session_);
    for (int more = 2; more > 0 && were_late(p, m); --more) m = bench::measure(p, session_);
    if (!first()) return;
    const double n_max = exact ? plan.n_max_expected() : plan.n_max();
    const double busy = p.ranks == 1 || !exact ? plan.efficiency() : std::min(1.0, n_max / p.ranks);
    const double expected = plan.steady_rate() / plan.efficiency() * busy;
    const Limit limit = busy < 1 ? Limit::slices : plan.limit() == Limit::slices ? Limit::work : plan.limit();
    const double ratio = m.rate / expected;

    // Each slice that leaves takes so much of a process's or a link's time.
    const double a_slice = p.ranks * p.workers / m.rate;
    const double work = m.work_seconds / a_slice, link = m.link_seconds / a_slice;
    // Behind workers that are always busy links wait as well.
    const Limit met = work >= 1 - tolerance ? Limit::work : link >= 1 - tolerance ? Limit::link : Limit::slices;
    // At the borders between them two limits are met at once.
    const bool same = met == limit || (limit == Limit::slices && busy >= 1 - 2 * tolerance) ||
                      (limit == Limit::work && work >= 1 - tolerance) ||
                      (limit == Limit::link && link >= 1 - tolerance);
    const bool good = std::abs(ratio - 1) <= tolerance && same;
    failures_ += good ? 0 : 1;
    std::printf("%-12s %5d %7d %6.2f %9.2f %9.2f %9.3f %6.0f%%  %-16s %9.1f %9.1f%s\n", name.c_str(), p.ranks,
                p.workers, n_max, expected, m.rate, ratio, 100 * work, cat(text_of(limit), ", ", text_of(met)).c_str(),
                1e3 * m.work_seconds, 1e3 * m.link_seconds, good ? "" : "  <- not as planned");
    std::fflush(stdout);
    if (!out_.is_open()) return;
    out_ << "{\"case\": \"" << name << "\", \"value\": " << m.rate << ", \"unit\": \"slices x steps/s\", "
         << "\"peer\": \"RingPlan\", \"peer_value\": " << expected << ", \"ratio\": " << ratio
         << ", \"ranks\": " << p.ranks << ", \"workers\": " << p.workers << ", \"slices\": " << p.slices
         << ", \"n_max\": " << n_max << ", \"stage_seconds\": " << p.stage_seconds
         << ", \"work_seconds\": " << m.work_seconds << ", \"link_seconds\": " << m.link_seconds << ", \"limit\": \""
         << text_of(met) << "\", \"peer_limit\": \"" << text_of(limit) << "\", \"transport\": \"" << p.transport
         << "\"}" << std::endl;
  }

  /// The strong-scaling figure of the method's paper, as RingPlan has it: nodes of 8 GPUs, 3.4e8 molecule steps/s each.
  void figure() {
    constexpr double gpu_rate = 3.4e8;
    constexpr int gpus = 8;
    for (const auto& [molecules, slices, workers] : {std::tuple{1e9, 597, 1}, {1e8, 277, 1}, {1e8, 277, 2}}) {
      dsea::Problem problem = bench::Occupant({}).problem();
      problem.slabs = slices;
      problem.elements = static_cast<std::int64_t>(molecules);
      for (int nodes = 1; nodes <= 25; ++nodes) {
        dsea::PlanRequest request;
        request.processes = gpus * nodes;
        request.workers = workers;
        request.steps = 1000;
        request.rate = gpu_rate;
        request.bandwidth = 1e15;
        const dsea::RingPlan plan(problem, request);
        out_ << "{\"case\": \"figure\", \"value\": " << plan.steady_rate()
             << ", \"unit\": \"molecules x steps/s\", \"nodes\": " << nodes << ", \"gpus\": " << gpus * nodes
             << ", \"molecules\": " << molecules << ", \"slices\": " << slices << ", \"workers\": " << workers
             << ", \"n_max\": " << plan.n_max() << ", \"efficiency\": " << plan.efficiency() << "}\n";
      }
    }
  }

  int finish() {
    if (out_.is_open() && !out_.flush())
      throw dsea::RunError("the measurements could not be written: is the disk full?");
    if (failures_ == 0) return 0;
    std::fprintf(stderr, "ring: error: %d measurements are not within %.0f %% of the plan\n", failures_,
                 100 * tolerance);
    return 3;
  }

 private:
  /// Whether the workers were not what they should be, because others keep this machine busy: then it is done again.
  bool were_late(const RingPoint& p, const RingMeasured& m) const {
    const bool late = first() && m.work_seconds > 1.03 * p.stage_seconds;
    if (late) {
      std::fprintf(stderr, "ring: a stage of %.0f ms took %.1f ms, the cores are busy: once more\n",
                   1e3 * p.stage_seconds, 1e3 * m.work_seconds);
    }
    return session_ != nullptr ? session_->smallest(late ? 0 : 1, std::chrono::minutes(2)) == 0 : late;
  }

  bool first() const { return session_ == nullptr || session_->rank() == 0; }
  dsea::MpiSession* session_;
  std::ofstream out_;
  int failures_ = 0;
};

/// Enough of them to measure for some seconds.
int supercycles_for(const RingPoint& p) {
  const dsea::RingPlan plan = bench::plan_of(p);
  const double cycle = p.slices * plan.stage_seconds() / plan.efficiency();
  return 2 + static_cast<int>(std::ceil(2.4 / cycle - 0.01));
}

/// What `./dev bench ring` does; links take nearly a stage, as N_max counts them, but where the case says otherwise.
void sweep(Bench& bench) {
  const auto turns = [](int ranks, int workers, double link_stages) {
    RingPoint p;
    p.ranks = ranks;
    p.workers = workers;
    p.stage_seconds = 0.05 * workers;
    p.link_stages = link_stages;
    p.supercycles = supercycles_for(p);
    return p;
  };
  for (const int workers : {1, 2}) {
    for (const int ranks : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16}) bench.point("scaling", turns(ranks, workers, 0.9), false);
  }
  for (const int ranks : {3, 8}) {
    RingPoint p = turns(ranks, 2, 0.9);
    p.stage_seconds = 0.05;
    p.at_once = true;
    bench.point("at once", p, false);
  }
  for (const int workers : {1, 2}) {
    RingPoint p = turns(12, workers, 0);
    p.link_stages.reset();
    bench.point("fast links", p, true);
  }
  for (const int ranks : {4, 12}) bench.point("slow links", turns(ranks, 1, 2), true);
  bench.point("slow links", turns(4, 2, 1), true);  // as slow, but half as often
}

int run(int argc, char** argv) {
  std::map<std::string, std::string> given;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto at = word.find('=');
    if (at == std::string::npos)
      throw dsea::UsageError(cat("'", word, "' is no KEY=VALUE: see the head of bench/ring.cpp"));
    given[word.substr(0, at)] = word.substr(at + 1);
  }
  const auto take = [&](const std::string& key, const std::string& otherwise) {
    const auto found = given.find(key);
    if (found == given.end()) return otherwise;
    std::string value = found->second;
    given.erase(found);
    return value;
  };
  const auto number = [&](const std::string& key, double otherwise) {
    const std::string text = take(key, "");
    return text.empty() ? otherwise : number_of(key, text);
  };
  const dsea::Launcher launcher = dsea::find_launcher();
  std::optional<dsea::MpiSession> session;
  if (launcher.found()) session.emplace();
  const std::string file = argc > 1 ? argv[1] : "";
  Bench bench(file, number("append", 0) != 0, session ? &*session : nullptr);
  if (given.empty() && !session) {
    bench.head();
    sweep(bench);
    if (!file.empty()) bench.figure();
    return bench.finish();
  }
  const std::string ranks = take("ranks", session ? cat(session->size()) : "1,2,4,8");
  const std::string workers = take("workers", "1,2");
  RingPoint p;
  p.slices = static_cast<int>(number("slices", 24));
  const int cycles = static_cast<int>(number("cycles", 0));
  const double stage = number("stage", 0.05);
  p.at_once = number("at_once", 0) != 0;
  p.payload_bytes = number("payload", 8);
  p.final_share = number("final", 0);
  p.bandwidth = number("bandwidth", 0);
  const double link = number("link", p.bandwidth > 0 ? 0 : 0.9);
  if (link > 0) p.link_stages = link;
  p.transport = take("transport", session ? "mpi" : "local");
  p.rails = split(take("rails", ""));
  if (!given.empty()) throw dsea::UsageError(cat("there is no key '", given.begin()->first, "'"));
  bench.head();
  for (const std::string& r : split(ranks)) {
    for (const std::string& w : split(workers)) {
      p.ranks = static_cast<int>(number_of("ranks", r));
      p.workers = static_cast<int>(number_of("workers", w));
      if (session && p.ranks != session->size())
        throw dsea::UsageError("under mpirun ranks is the number of processes");
      p.stage_seconds = p.at_once ? stage : stage * p.workers;
      p.supercycles = cycles > 0 ? cycles : supercycles_for(p);
      bench.point(p.link_stages ? "scaling" : "links as they are", p,
                  !p.link_stages || *p.link_stages < 0.9 || *p.link_stages > 1);
    }
  }
  return bench.finish();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const dsea::Error& e) {
    std::cerr << "ring: error: " << e.what() << std::endl;
    return static_cast<int>(e.exit_code());
  }
}
