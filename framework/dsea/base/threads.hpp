// The calling thread: its name, processors, signals and processor time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace dsea {

/// Names the calling thread for debuggers, profilers and `top -H`. Linux keeps the first 15 bytes.
void name_this_thread(std::string_view name);

/// Binds the calling thread, and threads it starts later, to some processors. Throws RunError if the list is empty or
/// holds no processor that this process may use.
void pin_this_thread(std::span<const int> cpus);

/// Processors the calling thread may run on, ascending; what a batch system or a binding script left to it.
std::vector<int> available_cpus();

/// Blocks all signals in the calling thread, and in threads it starts later, except those an error of its own raises
/// (such as SIGSEGV). Role threads call this first, so that SIGTERM and the like reach the main thread.
void block_signals();

/// Processor time used so far by the calling thread and by the whole process.
double thread_cpu_seconds();
double process_cpu_seconds();

}  // namespace dsea
