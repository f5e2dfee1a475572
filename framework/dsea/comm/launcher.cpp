#include "dsea/comm/launcher.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dsea/base/text.hpp"

namespace dsea {
namespace {

/// The number in an environment variable, 0 if it is not there or is none.
int number(const char* text) {
  int value = 0;
  if (text != nullptr) {
    const std::string_view view = text;
    std::from_chars(view.data(), view.data() + view.size(), value);
  }
  return value;
}

/// Batch scripts and interactive shells have a step number too, one beyond all that srun gives out.
bool is_step(const char* id) {
  constexpr std::uint32_t first_reserved = 0xfffffff0;
  std::uint32_t value = first_reserved;
  if (id != nullptr) {
    const std::string_view view = id;
    std::from_chars(view.data(), view.data() + view.size(), value);
  }
  return value < first_reserved;
}

const char* from_environment(const char* name) { return std::getenv(name); }

}  // namespace

Launcher find_launcher(const std::function<const char*(const char*)>& get) {
  const auto set = [&](const char* name) { return get(name) != nullptr; };
  int step_tasks = number(get("SLURM_STEP_NUM_TASKS"));
  if (step_tasks == 0 && is_step(get("SLURM_STEP_ID"))) step_tasks = number(get("SLURM_NTASKS"));
  // Launchers that start one helper a node by srun, and the processes by that.
  const int pmi_tasks = number(get("PMI_SIZE"));
  if (pmi_tasks > 0 && pmi_tasks != step_tasks) step_tasks = 0;

  const bool pmi = set("PMIX_RANK") || set("PMI_RANK");
  if (set("OMPI_COMM_WORLD_SIZE")) return {"mpirun (Open MPI)", number(get("OMPI_COMM_WORLD_SIZE")), pmi};
  if (step_tasks > 0) return {"srun", step_tasks, pmi};
  if (set("PMI_SIZE")) return {"mpiexec (PMI)", pmi_tasks, pmi};
  if (set("PMIX_RANK")) return {"a PMIx launcher", 0, pmi};
  return {};
}

Launcher find_launcher() { return find_launcher(from_environment); }

std::string launcher_refusal(const Launcher& launcher, const std::string& library) {
  if (launcher.name != "srun" || launcher.pmi || !library.starts_with("Open MPI")) return {};
  return cat("srun offers its processes no PMI, by which those of ", library,
             " find each other; use srun --mpi=pmix, or the library's own mpirun within the job");
}

std::string launcher_mismatch(const Launcher& launcher, int mpi_size, const std::string& library) {
  if (mpi_size > 1 || launcher.ranks <= 1) return {};
  const std::string what = cat(launcher.name, " started ", launcher.ranks, " processes, but the MPI library (", library,
                               ") sees only one; ");
  if (launcher.name == "srun") return what + "use srun --mpi=pmix, or the library's own mpirun within the job";
  return what + "use the mpirun or mpiexec that belongs to this library";
}

}  // namespace dsea
