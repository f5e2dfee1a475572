// Was this process started as one of several, and by what?
#pragma once

#include <functional>
#include <string>

namespace dsea {

/// What the environment says; it says nothing of whether MPI works.
struct Launcher {
  std::string name;  ///< "mpirun (Open MPI)", "srun", ...; empty if this process was started alone
  int ranks = 0;     ///< processes that were started together, 0 if the environment does not say

  bool found() const { return !name.empty(); }
};

/// `get` is getenv (or a test's stand-in). The variables of a Slurm job count only within a step that srun started: a
/// batch script has them too.
Launcher find_launcher(const std::function<const char*(const char*)>& get);
Launcher find_launcher();

/// Empty, or what to expect when srun has started several processes without PMIx or PMI: some MPI libraries then end
/// the program while they initialise, before anybody can say why. Only in the first process.
std::string launcher_warning(const std::function<const char*(const char*)>& get);
std::string launcher_warning();

/// Empty if an MPI job of `mpi_size` processes fits what the launcher says, otherwise what is wrong and what to do:
/// where launcher and MPI library do not know each other, each process believes that it is alone.
std::string launcher_mismatch(const Launcher& launcher, int mpi_size, const std::string& library);

}  // namespace dsea
