#include "dsea/app/run_app.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "dsea/app/all_ranks.hpp"
#include "dsea/app/choose_transport.hpp"
#include "dsea/app/command_line.hpp"
#include "dsea/app/rank_place.hpp"
#include "dsea/app/rank_run.hpp"
#include "dsea/app/run_figures.hpp"
#include "dsea/app/run_traits.hpp"
#include "dsea/app/signal_watch.hpp"
#include "dsea/app/start_table.hpp"
#include "dsea/base/check.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/openmp.hpp"
#include "dsea/base/version.hpp"
#include "dsea/comm/launcher.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/nccl_transport.hpp"
#include "dsea/comm/network_devices.hpp"
#include "dsea/comm/ucx_transport.hpp"
#include "dsea/io/run_report.hpp"
#include "dsea/io/thermo_table.hpp"
#include "dsea/slice/digest.hpp"

namespace dsea {
namespace {

/// One program run: everything between the command line and the exit code.
class AppRun {
 public:
  AppRun(const std::string& name, const CommandLine& line, const MakeProgram& make)
      : name_(name), line_(line), make_(make), launcher_(find_launcher()), log_(line.log), signals_(log_) {
    choose_transport();
  }

  /// Returns the exit code. Errors of one process are thrown; with MPI bad input is said by one rank and ends all.
  int run() {
    if (!session_) {
      read_config();
      set_threads(ranks(), log_);
      run_local_ranks();
      return 0;
    }
    try {
      return run_process();
    } catch (const Error& e) {
      give_up(e.what(), e.exit_code());
      throw;
    } catch (const std::exception& e) {
      give_up(e.what(), ExitCode::failed);
      throw;
    }
  }

 private:
  /// This process is one of several.
  int run_process() {
    log_ = log_.for_rank(session_->rank(), session_->size());
    RankPlace place;
    const auto look_around = [&] {
      read_config();
      place = place_of_this_rank(*session_, line_.device);
    };
    if (const int bad = on_all(look_around)) return bad;
    if (const int bad = on_all([&] { take_place(place); })) return bad;
    const auto open_device = [this] {
      session_->heartbeat(heartbeat_options());
      if (line_.plan) return;
      opened_ = Device::open(device_);
      if (line_.transport == "nccl") check_nccl(*opened_);
    };
    if (const int bad = on_all(open_device)) return bad;
    RankFacts facts;
    const auto prepare = [&] {
      chosen_ = make_transport(*session_, transport_request());
      chosen_.rails = chosen_.transport->rails();
      rank_ = std::make_unique<RankRun>(make_, *config_, device_, *chosen_.transport, log_, session_->local_size(),
                                        line_.plan);
      const bool rails = chosen_.transport->name() == "ucx";
      facts = facts_of_this_rank(rank_->device(), rails ? settings_.rails : std::vector<std::string>(),
                                 chosen_.transport->name(), chosen_.from_previous.bytes_per_second);
    };
    if (const int bad = on_all(prepare)) return bad;
    const bool first = session_->rank() == 0;
    const auto begin_together = [&] {
      demand_same(*session_, traits(rank_.get()));  // before anything in the output folder is replaced
      const std::vector<RankFacts> all = facts_of_all(*session_, facts);
      if (line_.plan) return;
      begin(*rank_, chosen_.why.empty() ? "transport " + chosen_.transport->describe()
                                        : chosen_.why + "; " + chosen_.transport->describe());
      if (first) report_start(log_, settings_.out, all, rank_->plan());
    };
    if (const int bad = on_all(begin_together)) return bad;
    if (line_.plan) {
      if (first) print_plan(*rank_);
      return 0;
    }
    warn_of_unused_keys();
    const RingOutcome outcome = rank_->run(options(*rank_, first), watched());
    say_what_rails_carried();
    finish(*rank_, outcome, first, chosen_.transport->name());
    return 0;
  }

  int on_all(const std::function<void()>& step) const { return on_all_ranks(*session_, name_, step); }

  /// The other processes are told, and the launcher made to end all, where it would let them wait. Once there are
  /// connections this does not return.
  void give_up(const std::string& what, ExitCode code) {
    if (!chosen_.transport) return;
    std::cerr << name_ << ": error: " << what << std::endl;
    signals_.ending(static_cast<int>(code));
    chosen_.transport->fail(static_cast<int>(code), cat(chosen_.transport->who(), ": ", what));
  }

  HeartbeatOptions heartbeat_options() const {
    HeartbeatOptions options;
    options.link_timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(settings_.link_timeout * 1e9));
    options.device = settings_.control;
    options.data_devices = settings_.rails;
    return options;
  }

  void warn_of_unused_keys() const {
    if (session_->rank() != 0 || chosen_.transport->name() == "ucx") return;
    if (line_.transport == "auto") return;  // it says by itself why ucx is not taken
    for (const auto& [key, set] :
         {std::pair{"ring.rails", !settings_.rails.empty()}, {"ring.relays", settings_.relays}}) {
      if (set) log_.warning(key, " is for transport ucx: ", chosen_.transport->name(), " does not heed it");
    }
  }

  std::vector<RunFigures::Rail> rails_of_this_rank() const {
    std::vector<RunFigures::Rail> rails;
    if (!chosen_.transport) return rails;
    std::size_t r = 0;
    for (const RailTraffic& rail : chosen_.transport->rails()) {
      const std::uint64_t before = r < chosen_.rails.size() ? chosen_.rails[r].bytes : 0;
      rails.push_back({rail.name, rail.bytes - before, rail.lost});
      ++r;
    }
    return rails;
  }

  /// Each rank of its own link, if that leaves the node; in a large run only where one was lost.
  void say_what_rails_carried() const {
    constexpr int many = 64;
    const std::vector<RunFigures::Rail> rails = rails_of_this_rank();
    if (rails.empty() || rails.front().name == "shared memory") return;
    const bool lost = std::ranges::any_of(rails, [](const RunFigures::Rail& rail) { return !rail.lost.empty(); });
    if (session_->size() > many && !lost) return;
    log_.info("rails to rank ", (session_->rank() + 1) % session_->size(), ": ", rails_text(rails));
  }

  TransportRequest transport_request() const {
    TransportRequest request;
    request.name = line_.transport;
    request.measure = !line_.plan;
    request.device = opened_;
    request.ucx.rails = settings_.rails;
    request.ucx.relays = settings_.relays;
    request.ucx.warn = [log = log_](const std::string& text) { log.warning(text); };
    return request;
  }

  /// What must be the same on all ranks; `rank` is null before there is a plan.
  std::vector<Trait> traits(const RankRun* rank) const {
    std::vector<Trait> all = traits_of_process(name_, line_, *config_);
    if (rank != nullptr) add_traits_of_plan(all, rank->problem(), rank->plan().request());
    return all;
  }

  /// Processors and GPU of this rank among the others.
  void take_place(const RankPlace& mine) {
    demand_same(*session_, traits(nullptr));
    const std::vector<RankPlace> places = places_of_all(*session_, mine);
    const Log& of_first = session_->rank() == 0 ? log_ : Log(LogLevel::error);
    set_threads(ranks_on_processors(places, session_->rank()), of_first);
    device_.index = gpu_of_rank(places, session_->rank());
    if (const std::string rule = gpu_rule(places); !rule.empty()) of_first.info(rule);
    const SharedGpu shared = shared_gpu(places);
    if (shared.who.empty()) return;
    if (!settings_.share_gpu && !line_.plan) throw UsageError(shared.who + ": " + shared.fix);
    of_first.warning(shared.who, line_.plan ? "" : ": ring.share_gpu is set");
  }

  void read_config() {
    config_.emplace(Config::from_file(line_.config, sets()));
    config_->set_log(!session_ || session_->rank() == 0 ? log_ : Log(LogLevel::error));
    settings_ = RunSettings::read(*config_);
    if (session_) check_control_device(settings_.control);
    // Alone: making connections takes all ranks. With "auto" a build without ucx is none of the user's mistakes.
    const bool maybe_ucx = session_ && line_.transport == "auto" && ucx_available();
    if (line_.transport == "ucx" || maybe_ucx) check_ucx(settings_.rails);
    device_.backend = line_.device;
    device_.isa = line_.isa;
  }

  /// `sharing`: ranks that run on the processors of this one.
  void set_threads(int sharing, const Log& log) {
    device_.threads = line_.threads > 0 ? line_.threads : std::max(1, available_cores() / sharing);
    const std::int64_t threads = static_cast<std::int64_t>(device_.threads) * sharing;
    if (line_.threads > 0 && threads > available_cores()) {
      log.warning("--threads ", line_.threads, ": ", threads, " threads of ", sharing,
                  sharing == 1 ? " rank" : " ranks", " take turns on ", available_cores(),
                  " cores: slower than one thread a core");
    }
  }

  int ranks() const { return session_ ? session_->size() : std::max(1, line_.ranks); }

  std::vector<std::string> sets() const {
    std::vector<std::string> all = line_.sets;
    if (line_.out) all.push_back("run.out=" + *line_.out);
    return all;
  }

  void choose_transport() {
    const bool launched = launcher_.found() && launcher_.ranks != 1;
    if (line_.transport == "local" && launched) {
      throw UsageError(cat("--transport local runs all ranks in one process, but ", launcher_.name, " started ",
                           launcher_.ranks, " processes: leave the launcher or the option out"));
    }
    if (line_.transport == "mpi" || line_.transport == "ucx" || line_.transport == "nccl" ||
        (line_.transport == "auto" && launched)) {
      if (line_.ranks > 0)
        throw UsageError("--ranks is for ranks in one process; with MPI the launcher says how many: mpirun -n N");
      session_.emplace();
    }
  }

  void run_local_ranks() {
    LocalRanks all(make_, *config_, ranks(), device_, log_, line_.plan);
    RankRun& first = all.first();
    if (line_.plan) {
      print_plan(first);
      return;
    }
    begin(first, "transport " + all.transport());
    finish(first, all.run(options(first, true), watched()), true, "local");
  }

  void print_plan(const RankRun& rank) const { std::cout << rank.plan().text() << std::flush; }

  void begin(const RankRun& rank, const std::string& transport) {
    make_output_folder(settings_.out);
    if (session_ && session_->rank() != 0) return;
    const BuildInfo& build = build_info();
    log_.info(name_, ", DSEA ", build.version, " (", build.git, "), output in ", settings_.out);
    log_.info(rank.device().why(), "; ", rank.device().name());
    log_.info(transport);
    for (const std::string& warning : rank.plan().warnings()) log_.warning(warning);
    if (const auto earlier = snapshots_in(settings_.out); !earlier.empty()) {
      log_.warning(settings_.out, " holds ", earlier.size(), earlier.size() == 1 ? " snapshot" : " snapshots",
                   " of an earlier run, such as ", earlier.front(), ": they are kept, unless this run writes the same");
    }
    // Results of an earlier run must not pass for this one's.
    std::error_code error;
    std::filesystem::remove(settings_.out + "/ranks.txt", error);
    std::filesystem::remove(settings_.out + "/run.json", error);
    if (error) {
      throw UsageError(cat("cannot replace ", settings_.out, "/run.json: ", error.message(),
                           ": remove it, or choose another folder by --out"));
    }
    write_text_file(settings_.out + "/config.toml", config_->effective_toml());
    const Problem& p = rank.problem();
    log_.info(p.elements, " ", p.element_name, " in ", p.slabs, " slabs (", rank.plan().topology().slices(),
              " slices), ", ranks(), ranks() == 1 ? " rank x " : " ranks x ", rank.plan().request().workers,
              " workers, ", bytes_text(static_cast<double>(rank.plan().bytes(rank.plan().largest_process()))),
              " a rank");
  }

  RingOptions options(RankRun& rank, bool table) {
    RingOptions o = ring_options(settings_);
    if (!table || settings_.thermo_every == 0 || rank.problem().columns.empty()) return o;
    table_.emplace(std::cout, settings_.out + "/thermo.csv", rank.problem().columns);
    o.on_row = [this, &rank](const StepSums& sums) {
      table_->row(sums.step, rank.program().row(rank.problem(), sums));
    };
    return o;
  }

  OnRing watched() {
    return [this](const Ring& ring, bool alive) { signals_.ring(ring, alive); };
  }

  void finish(const RankRun& rank, const RingOutcome& outcome, bool reporting, const std::string& transport) const {
    if (!reporting) return;
    RunFigures f = figures_of(name_, rank, outcome, transport);
    f.rails = rails_of_this_rank();
    std::cout << summary_text(f) << "digest " << f.digest << " step " << f.step << std::endl;
    write_run_json(settings_.out + "/run.json", f);
    if (!std::cout)
      throw RunError("cannot write to standard output: the table or the digest is lost there; see run.json");
  }

  std::string name_;
  const CommandLine& line_;
  const MakeProgram& make_;
  Launcher launcher_;
  Log log_;
  SignalWatch signals_;  // before MPI starts threads: they inherit the blocked signals
  std::optional<MpiSession> session_;
  std::optional<Config> config_;
  RunSettings settings_;
  DeviceOptions device_;
  std::optional<Device> opened_;  // the device, for transports that ask about it
  std::optional<ThermoTable> table_;
  // With a session. The rank's memory outlives the connections that may still write to it.
  std::unique_ptr<RankRun> rank_;
  ChosenTransport chosen_;
};

}  // namespace

int app_main(const std::string& name, int argc, char** argv, const MakeProgram& make) {
  restart_with_short_spin(argv);
  try {
    const auto line = CommandLine::parse(name, argc, argv);
    if (!line) return static_cast<int>(ExitCode::done);
    return AppRun(name, *line, make).run();
  } catch (const Error& e) {  // also of a ring, which has said it before: the cause is the last line
    std::cerr << name << ": error: " << e.what() << std::endl;
    return static_cast<int>(e.exit_code());
  } catch (const std::exception& e) {
    std::cerr << name << ": error: " << e.what() << std::endl;
    return static_cast<int>(ExitCode::failed);
  }
}

}  // namespace dsea
