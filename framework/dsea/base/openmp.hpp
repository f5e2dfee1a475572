// How OpenMP's threads wait between kernels.
#pragma once

namespace dsea {

/// GNU OpenMP lets idle threads spin for milliseconds before they sleep, which takes the cores from the threads that
/// move slices, and is ruinous where cores are shared. It reads its settings before main(), so this starts the program
/// again (exec, same process id) with a spin of less than 1 ms, unless the user has set OMP_WAIT_POLICY or
/// GOMP_SPINCOUNT, or the library was built without OpenMP. To be called first in main(). Returns if there is nothing
/// to do or exec fails.
void restart_with_short_spin(char** argv);

}  // namespace dsea
