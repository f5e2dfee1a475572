#include "dsea/app/run_app.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "dsea/app/command_line.hpp"
#include "dsea/app/rank_run.hpp"
#include "dsea/app/signal_watch.hpp"
#include "dsea/base/check.hpp"
#include "dsea/base/hash.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/openmp.hpp"
#include "dsea/base/version.hpp"
#include "dsea/comm/launcher.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "dsea/comm/nccl_transport.hpp"
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
      run_local_ranks();
      return 0;
    }
    log_ = log_.for_rank(session_->rank(), session_->size());
    if (const int bad = on_all_ranks([this] { read_config(); })) return bad;
    std::unique_ptr<Transport> transport;
    std::unique_ptr<RankRun> rank;
    const auto prepare = [&] {
      transport = make_transport();
      rank = std::make_unique<RankRun>(make_, *config_, device_, *transport, log_, ranks_here(), line_.plan);
    };
    if (const int bad = on_all_ranks(prepare)) return bad;
    const auto begin_together = [&] {
      demand_one_configuration();  // before anything in the output folder is replaced
      if (!line_.plan) begin(*rank, transport->describe());
    };
    if (const int bad = on_all_ranks(begin_together)) return bad;
    const bool first = session_->rank() == 0;
    if (line_.plan) {
      if (first) print_plan(*rank);
      return 0;
    }
    finish(*rank, rank->run(options(*rank, first), watched()), first, transport->name());
    return 0;
  }

 private:
  /// Ranks that read different files, or are different programs, would compute nonsense together.
  void demand_one_configuration() const {
    std::string text = cat(name_, "\n", config_->effective_toml());
    constexpr std::string_view mark = "  # default";  // it does not matter who has written the value
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.erase(at, mark.size());
    const int mine = static_cast<int>(hash_text(text) & 0x3fffffff);
    constexpr std::chrono::minutes patience(10);
    const int least = session_->smallest(mine, patience);
    const int most = -session_->smallest(-mine, patience);
    if (least == most) return;
    throw UsageError(cat("rank ", session_->rank(),
                         ", like others, has another program or configuration than some ranks: ",
                         "start all with the same program, the same .toml (on every node) and the same --set"));
  }

  std::unique_ptr<Transport> make_transport() {
    if (line_.transport == "ucx") return make_ucx_transport(*session_, {.rails = settings_.rails});
    if (line_.transport == "nccl" && !line_.plan) return make_nccl_transport(*session_, *opened_);
    return make_mpi_transport(*session_, {.device = opened_});
  }

  void read_config() {
    config_.emplace(Config::from_file(line_.config, sets()));
    config_->set_log(!session_ || session_->rank() == 0 ? log_ : Log(LogLevel::error));
    settings_ = RunSettings::read(*config_);
    if (line_.transport == "ucx") check_ucx(settings_.rails);  // alone: making connections takes all ranks
    device_.backend = line_.device;
    device_.isa = line_.isa;
    device_.threads = line_.threads > 0 ? line_.threads : std::max(1, available_cores() / ranks_here());
    if (session_ && !line_.plan) opened_ = Device::open(device_);
    if (opened_ && line_.transport == "nccl") check_nccl(*opened_);
    const std::int64_t threads = static_cast<std::int64_t>(device_.threads) * ranks_here();
    if (line_.threads > 0 && threads > available_cores() && (!session_ || session_->rank() == 0)) {
      log_.warning("--threads ", line_.threads, ": ", threads, " threads of ", ranks_here(),
                   ranks_here() == 1 ? " rank" : " ranks", " take turns on ", available_cores(),
                   " cores: slower than one thread a core");
    }
  }

  /// Does something that may throw on every rank of an MPI run. 0 if all are well; otherwise the exit code of the
  /// lowest rank that is not, which says why.
  template <class Step>
  int on_all_ranks(const Step& step) const {
    ExitCode code = ExitCode::done;
    std::string error;
    try {
      step();
    } catch (const Error& e) {
      code = e.exit_code();
      error = e.what();
    } catch (const std::exception& e) {
      code = ExitCode::failed;
      error = e.what();
    }
    constexpr int codes = 256;
    const int none = session_->size() * codes;
    const int mine = code == ExitCode::done ? none : session_->rank() * codes + static_cast<int>(code);
    const int lowest = session_->smallest(mine, std::chrono::minutes(10));
    if (lowest == none) return 0;
    if (lowest / codes == session_->rank()) std::cerr << name_ << ": error: " << error << std::endl;
    return lowest % codes;
  }

  int ranks() const { return session_ ? session_->size() : std::max(1, line_.ranks); }

  /// Ranks that share this machine's cores and memory.
  int ranks_here() const {
    if (!session_) return ranks();
    const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    const int n = local != nullptr ? std::atoi(local) : 0;
    return n > 0 ? n : session_->size();
  }

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
    begin(first, all.transport());
    finish(first, all.run(options(first, true), watched()), true, "local");
  }

  void print_plan(const RankRun& rank) const { std::cout << rank.plan().text() << std::flush; }

  void begin(const RankRun& rank, const std::string& transport) {
    make_output_folder(settings_.out);
    if (session_ && session_->rank() != 0) return;
    const BuildInfo& build = build_info();
    log_.info(name_, ", DSEA ", build.version, " (", build.git, "), output in ", settings_.out);
    log_.info(rank.device().why(), "; ", rank.device().name());
    log_.info("transport ", transport);
    for (const std::string& warning : rank.plan().warnings()) log_.warning(warning);
    if (const auto earlier = snapshots_in(settings_.out); !earlier.empty()) {
      log_.warning(settings_.out, " holds ", earlier.size(), earlier.size() == 1 ? " snapshot" : " snapshots",
                   " of an earlier run, such as ", earlier.front(), ": they are kept, unless this run writes the same");
    }
    // Results of an earlier run must not pass for this one's.
    std::error_code error;
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
    const Problem& p = rank.problem();
    const int n = ranks();
    RunFigures f;
    f.program = name_;
    f.digest = digest_text(outcome.digest);
    f.step = outcome.step;
    f.elements = p.elements;
    f.element_name = p.element_name;
    f.steady = outcome.steady_steps > 0 && outcome.steady_seconds > 0;
    const double steps = f.steady ? outcome.steady_steps : static_cast<double>(outcome.step);
    f.rate = static_cast<double>(p.elements) * steps / (f.steady ? outcome.steady_seconds : outcome.wall_seconds);
    f.wall_s = outcome.wall_seconds;
    std::uint64_t sent_bytes = 0;
    std::int64_t sent = 0;
    // Rank 0 gets its first super-cycle from the loaders, all the rest from the ring.
    f.slices_received_least = outcome.ranks.front().received + rank.plan().topology().slices();
    for (const RankReport& r : outcome.ranks) {
      f.kernel_s += r.kernel_seconds / n;
      sent_bytes += r.sent_bytes;
      sent += r.sent;
      if (r.rank > 0) f.slices_received_least = std::min(f.slices_received_least, r.received);
    }
    const double work = static_cast<double>(p.elements) * static_cast<double>(outcome.step) * 1e-9;
    if (!p.phases.empty() && work > 0) {
      double rest = f.kernel_s * n;
      for (std::size_t k = 0; k < p.phases.size(); ++k) {
        double seconds = 0;
        for (const RankReport& r : outcome.ranks) seconds += r.phase_seconds[k];
        f.phases.emplace_back(p.phases[k], seconds / work);
        rest -= seconds;
      }
      f.phases.emplace_back("other kernels", rest / work);
      f.phases.emplace_back("without kernels", n * std::max(0.0, f.wall_s - f.kernel_s) / work);
    }
    f.overhead = std::clamp(1 - f.kernel_s / f.wall_s, 0.0, 1.0);
    f.slices = rank.plan().topology().slices();
    f.slabs = p.slabs;
    // In a ring of one process slices come from the loader only.
    f.slices_expected = n == 1 ? f.slices : rank.plan().schedule().supercycles() * f.slices;
    if (sent > 0)
      f.bytes_per_element =
          static_cast<double>(sent_bytes) / static_cast<double>(sent) * f.slices / static_cast<double>(p.elements);
    f.ranks = n;
    f.workers = rank.plan().request().workers;
    f.threads = rank.device().threads();
    f.device = rank.device().name();
    f.transport = transport;
    f.isa = isa_name(rank.device().isa());
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
