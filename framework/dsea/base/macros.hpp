// Markers for code that runs on the host and on a GPU.
#pragma once

/// Marks a function, usually operator() of a kernel, that runs on host threads and, when compiled by nvcc, on a GPU.
/// On the host it is always inlined, so that for_each_row can instantiate it once per instruction set.
#if defined(__CUDACC__)
#define DSEA_FN __host__ __device__ __attribute__((always_inline))
#else
#define DSEA_FN __attribute__((always_inline))
#endif

/// Promise to the compiler that the iterations of the following loop do not depend on each other.
#if defined(__clang__)
#define DSEA_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define DSEA_IVDEP _Pragma("GCC ivdep")
#else
#define DSEA_IVDEP
#endif
