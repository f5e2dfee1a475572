// A kernel over rows with a contiguous inner index, for grids. On the host the inner loop is vectorised, once for each
// instruction set, and the best one is chosen at run time; results are the same bits in all of them.
//
//   struct Diffuse {
//     static constexpr int margin = 1;
//     const double* from; double* to; std::int64_t columns; double r;
//     template <class Inner>
//     DSEA_FN void operator()(std::int64_t row, std::int64_t column, Inner inner) const {
//       const std::int64_t i = row * columns + column;
//       double left = from[i], right = from[i];                      // insulated ends
//       if (Inner::value || column > 0) left = from[i - 1];          // `inner` is a constant: no test in the inner
//       loop if (Inner::value || column + 1 < columns) right = from[i + 1]; to[i] = from[i] + r * (left - 2.0 * from[i]
//       + right);
//     }
//   };
//   for_each_row(stream, rows, columns, Diffuse{...});
//
// With `margin` the functor gets std::true_type for columns in [margin, columns - margin) and std::false_type for the
// others. Without `margin` it is called as f(row, column). It may state `grain`: the least number of cells worth a host
// thread (default 8192). The rules of for_each hold too.
//
// To be vectorised a functor avoids: calls that are not DSEA_FN, conditions that depend on the column (use ?: and
// margin), and indices that are not affine in the column.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dsea/base/macros.hpp"
#include "dsea/device/host_loop.hpp"
#include "dsea/device/isa.hpp"
#include "dsea/device/launch.hpp"
#include "dsea/device/stream.hpp"

namespace dsea {
inline namespace DSEA_KERNEL_NAMESPACE {

namespace kernel_detail {

/// One cell; the last argument is dropped for functors without a margin.
template <class F, class Inner>
DSEA_FN inline void call_cell(const F& f, std::int64_t row, std::int64_t column, Inner inner) {
  if constexpr (requires { F::margin; }) {
    f(row, column, inner);
  } else {
    f(row, column);
  }
}

template <class F>
constexpr std::int64_t margin_of() {
  if constexpr (requires { F::margin; }) {
    static_assert(F::margin >= 0);
    return F::margin;
  } else {
    return 0;
  }
}

/// Rows [begin, end). Always inlined into one of the functions below, whose instruction set it then has.
template <class F>
__attribute__((always_inline)) inline void row_loops(const F& f, std::int64_t begin, std::int64_t end,
                                                     std::int64_t columns) {
  constexpr std::int64_t margin = margin_of<F>();
  for (std::int64_t row = begin; row < end; ++row) {
    // The edges have constant trip counts, so that the compiler unrolls them and leaves them scalar.
    for (std::int64_t column = 0; column < margin; ++column) {
      if (column < columns) call_cell(f, row, column, std::false_type{});
    }
    DSEA_IVDEP
    for (std::int64_t column = margin; column < columns - margin; ++column) {
      call_cell(f, row, column, std::true_type{});
    }
    for (std::int64_t k = 0; k < margin; ++k) {
      const std::int64_t column = columns - margin + k;
      if (column >= margin) call_cell(f, row, column, std::false_type{});
    }
  }
}

// The functor is passed by value: its address stays unknown to the loops, so its members stay in registers.
template <class F>
__attribute__((noinline)) void rows_baseline(F f, std::int64_t begin, std::int64_t end, std::int64_t columns) {
  row_loops(f, begin, end, columns);
}

#if defined(__x86_64__)
template <class F>
__attribute__((noinline, target("avx2"))) void rows_avx2(F f, std::int64_t begin, std::int64_t end,
                                                         std::int64_t columns) {
  row_loops(f, begin, end, columns);
}

template <class F>
__attribute__((noinline, target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512"))) void rows_avx512(
    F f, std::int64_t begin, std::int64_t end, std::int64_t columns) {
  row_loops(f, begin, end, columns);
}
#endif

template <class F>
void rows_by_isa(Isa isa, const F& f, std::int64_t begin, std::int64_t end, std::int64_t columns) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return rows_avx512<F>(f, begin, end, columns);
  if (isa == Isa::avx2) return rows_avx2<F>(f, begin, end, columns);
#endif
  static_cast<void>(isa);
  rows_baseline<F>(f, begin, end, columns);
}

#if DSEA_CUDA_CODE
inline constexpr unsigned row_block_x = 64;  // columns: neighbouring threads touch neighbouring memory
inline constexpr unsigned row_block_y = 4;

template <class F>
__global__ void for_each_row_kernel(std::int64_t rows, std::int64_t columns, F f) {
  constexpr std::int64_t margin = margin_of<F>();
  const std::int64_t column_stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t row_stride = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  for (std::int64_t row = first_row; row < rows; row += row_stride) {
    for (std::int64_t column = first_column; column < columns; column += column_stride) {
      if (column >= margin && column < columns - margin) {
        call_cell(f, row, column, std::true_type{});
      } else {
        call_cell(f, row, column, std::false_type{});
      }
    }
  }
}

inline unsigned row_blocks(std::int64_t cells, unsigned a_block, std::int64_t most) {
  const std::int64_t blocks = (cells + a_block - 1) / a_block;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}
#endif

}  // namespace kernel_detail

/// f(row, column[, inner]) for row in [0, rows) and column in [0, columns), in stream order.
template <class F>
void for_each_row(Stream& stream, std::int64_t rows, std::int64_t columns, F f) {
  if (rows <= 0 || columns <= 0) return;
  if (stream.is_cuda()) {
#if DSEA_CUDA_CODE
    launch(stream,
           {dim3(kernel_detail::row_blocks(columns, kernel_detail::row_block_x, 1 << 20),
                 kernel_detail::row_blocks(rows, kernel_detail::row_block_y, 65535)),
            dim3(kernel_detail::row_block_x, kernel_detail::row_block_y)},
           &kernel_detail::for_each_row_kernel<F>, rows, columns, f);
    return;
#else
    refuse_launch(stream);
#endif
  }
  const Device& device = stream.device();
  stream.host_run([rows, columns, f, threads = device.threads(), isa = device.isa()] {
    const std::int64_t grain = (grain_of<F>(8192) + columns - 1) / columns;
    parallel_ranges(threads, rows, grain, [&](std::int64_t begin, std::int64_t end) {
      kernel_detail::rows_by_isa<F>(isa, f, begin, end, columns);
    });
  });
}

}  // namespace DSEA_KERNEL_NAMESPACE
}  // namespace dsea
