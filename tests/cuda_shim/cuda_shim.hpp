// A CUDA runtime on the CPU, for tests: kernels compiled by the host compiler run without a GPU and without nvcc.
//
// NVIDIA's header gives the declarations, this folder the functions. A block's threads are fibres of the caller's
// thread, run one after the other in an order that a test chooses (order.hpp); barriers and warp collectives are the
// places where they take turns, and check who takes part. Streams are queues that run only when somebody waits for
// them, and only as far as needed (stream.hpp), so that a forgotten wait gives wrong results. Device memory is host
// memory full of NaNs, between guard zones.
//
// It shows logic and order. It says nothing of nvcc's code, of the GPU's memory model or of speed, and nothing that
// passes here has been tested on a GPU. Not modelled: streams that synchronise with the default stream, blocks that
// wait for each other, textures, managed memory, graphs, cooperative groups.
#pragma once

#if defined(__CUDACC__)
#error "the shim is for host compilers; nvcc has the real thing"
#endif

#include <cuda_runtime_api.h>

// The header defines most qualifiers away. A block runs in one thread, and blocks one after the other.
#undef __shared__
#define __shared__ thread_local
#undef __launch_bounds__
#define __launch_bounds__(...)

#include "cuda_shim/atomics.hpp"
#include "cuda_shim/builtins.hpp"
#include "cuda_shim/launch.hpp"
