// Was this process started as one of several, and by what?
#pragma once

#include <functional>
#include <string>

namespace dsea {

/// What the environment says; it says nothing of whether MPI works.
struct Launcher {
  std::string name;  ///< "mpirun (Open MPI)", "srun", ...; empty if this process was started alone
  int ranks = 0;     ///< processes that were started together, 0 if the environment does not say
  bool pmi = false;  ///< it offers PMI or PMIx, by which MPI processes find each other

  bool found() const { return !name.empty(); }
};

/// `get` is getenv (or a test's stand-in). The variables of a Slurm job count only within a step that srun started: a
/// batch script has them too.
Launcher find_launcher(const std::function<const char*(const char*)>& get);
Launcher find_launcher();

/// Empty if `library` can be initialised under this launcher, otherwise what is wrong and what to do. To be asked
/// before: Open MPI ends processes of srun that are offered no PMI within MPI_Init, with exit code 1 and advice on how
/// to build it.
std::string launcher_refusal(const Launcher& launcher, const std::string& library);

/// Empty if an MPI job of `mpi_size` processes fits what the launcher says, otherwise what is wrong and what to do:
/// where launcher and MPI library do not know each other, each process believes that it is alone.
std::string launcher_mismatch(const Launcher& launcher, int mpi_size, const std::string& library);

}  // namespace dsea
