// What streaming is for: W workers advance a plane W steps while it is in cache.
//
// Three rates of the same row kernel, taken in turns so that a busy machine hits all of them:
//   sweep     two arrays of at least 1 GiB, one step a pass through memory, OpenMP over planes
//   in cache  the kernel on planes that never leave the cache: the limit
//   ring      the real ring through its public interface, one process, W workers; without filling and draining
//
// heat [FILE.jsonl [WORKERS [NY NZ [ROUNDS]]]]
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "common/sample.hpp"
#include "dsea/base/openmp.hpp"
#include "kernels/heat/heat.hpp"

namespace {

using bench::now;
using bench::ratio;
using bench::Sample;

constexpr std::size_t least_state = std::size_t{1} << 30;  // bytes

struct Grid {
  std::int64_t nx, ny, nz;
  std::int64_t plane() const { return ny * nz; }
  double cells() const { return static_cast<double>(nx * plane()); }
};

/// One plane of a periodic box.
heat::Diffuse kernel(const Grid& grid, double* left, double* here, double* right, double* next) {
  static const std::int64_t unused = 0;  // the kernel asks for no counts
  const auto in = [&](double* p) { return dsea::View<const double>{p, &unused, grid.plane()}; };
  return {in(left),
          in(here),
          in(right),
          {next, nullptr, grid.plane()},
          heat::Axis::of(grid.ny, true),
          heat::Axis::of(grid.nz, true),
          0.15};
}

/// Cells a second of whole sweeps from one array into the other.
class Sweep {
 public:
  Sweep(const Grid& grid, int threads) : grid_(grid), device_(dsea::Device::open({.backend = "host", .threads = 1})) {
    for (dsea::Buffer& b : state_) b = dsea::Buffer(device_, bytes(), dsea::Memory::device);
    for (int t = 0; t < threads; ++t) streams_.emplace_back(device_, "sweep");
  }

  double rate() {
    constexpr int sweeps = 4;
    const double start = now();
    for (int s = 0; s < sweeps; ++s) {
      auto* from = state_[s % 2].as<double>();
      auto* to = state_[1 - s % 2].as<double>();
#pragma omp parallel for num_threads(static_cast <int>(streams_.size())) schedule(static)
      for (std::int64_t i = 0; i < grid_.nx; ++i) {
        const auto plane = [&](double* state, std::int64_t at) {
          return state + (at + grid_.nx) % grid_.nx * grid_.plane();
        };
        dsea::for_each_row(streams_[static_cast<std::size_t>(omp_get_thread_num())], grid_.nz, grid_.ny,
                           kernel(grid_, plane(from, i - 1), plane(from, i), plane(from, i + 1), plane(to, i)));
      }
    }
    return sweeps * grid_.cells() / (now() - start);
  }

  std::size_t bytes() const { return sizeof(double) * static_cast<std::size_t>(grid_.nx * grid_.plane()); }

 private:
  Grid grid_;
  dsea::Device device_;
  dsea::Buffer state_[2];
  std::vector<dsea::Stream> streams_;
};

/// Cells a second on a few planes that take turns: as many as the workers of a ring have at hand, so that they lie in
/// the same cache as those.
class InCache {
 public:
  InCache(const Grid& grid, int planes, int threads)
      : grid_(grid),
        device_(dsea::Device::open({.backend = "host", .threads = threads})),
        stream_(device_, "in cache") {
    for (int p = 0; p < planes; ++p) {
      planes_.emplace_back(device_, sizeof(double) * static_cast<std::size_t>(grid.plane()), dsea::Memory::device);
    }
  }

  double rate() {
    const std::int64_t steps = std::max<std::int64_t>(8, (std::int64_t{1} << 29) / grid_.plane());
    const double start = now();
    for (std::int64_t s = 0; s < steps; ++s) {
      const auto plane = [&](std::int64_t at) {
        return planes_[static_cast<std::size_t>(s + at) % planes_.size()].as<double>();
      };
      dsea::for_each_row(stream_, grid_.nz, grid_.ny, kernel(grid_, plane(0), plane(1), plane(2), plane(3)));
    }
    return static_cast<double>(steps * grid_.plane()) / (now() - start);
  }

 private:
  Grid grid_;
  dsea::Device device_;
  dsea::Stream stream_;
  std::vector<dsea::Buffer> planes_;
};

double ring_rate(const Grid& grid, int workers, int threads) {
  const auto config = dsea::Config::from_text(dsea::cat("grid = {nx = ", grid.nx, ", ny = ", grid.ny,
                                                        ", nz = ", grid.nz, "}\nheat.start = \"random\"\n",
                                                        "boundary.x = \"insulated\"\nrun.steps = ", 6 * workers,
                                                        "\nring.workers = ", workers, "\noutput.thermo_every = 0\n"));
  const auto outcome = dsea::run_local<heat::Heat>(config, 1, {.backend = "host", .threads = threads});
  return grid.cells() * outcome.ring.steady_steps / outcome.ring.steady_seconds;
}

}  // namespace

int main(int argc, char** argv) {
  dsea::restart_with_short_spin(argv);  // as every program of the project does
  const auto number = [&](int i, std::int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  const int workers = static_cast<int>(number(2, 8));
  Grid grid{0, number(3, 512), number(4, 128)};
  const std::int64_t rounds = number(5, 5);
  grid.nx =
      static_cast<std::int64_t>((least_state - 1) / (sizeof(double) * static_cast<std::size_t>(grid.plane()))) + 1;
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

  Sample sweep, cache, ring;
  Sweep two_arrays(grid, threads);
  two_arrays.rate();  // the first one pays for the pages
  InCache in_cache(grid, 4 * workers, threads);
  in_cache.rate();
  for (std::int64_t i = 0; i < rounds; ++i) {
    sweep.values.push_back(two_arrays.rate());
    cache.values.push_back(in_cache.rate());
    ring.values.push_back(ring_rate(grid, workers, threads));
    std::fprintf(stderr, "round %d of %d\n", static_cast<int>(i) + 1, static_cast<int>(rounds));
  }

  std::printf("heat, %d x %d x %d cells, planes of %d KiB, %d threads, %d workers, %d rounds\n\n",
              static_cast<int>(grid.nx), static_cast<int>(grid.ny), static_cast<int>(grid.nz),
              static_cast<int>(grid.plane() * 8 / 1024), threads, workers, static_cast<int>(rounds));
  bench::print_head();
  bench::print_line("sweep, Gcell/s", sweep, 1e9);
  bench::print_line("in cache, Gcell/s", cache, 1e9);
  bench::print_line("ring, Gcell/s", ring, 1e9);
  bench::print_line("ring against in-cache limit", ratio(ring, cache), 1);
  bench::print_line("ring against sweep", ratio(ring, sweep), 1);
  bench::print_line("in-cache limit against sweep", ratio(cache, sweep), 1);

  if (argc > 1) {
    std::ofstream file(argv[1]);
    const auto record = [&](const char* name, const Sample& value, const char* peer, const Sample& other) {
      file << "{\"case\": \"" << name << "\", \"value\": " << value.median() << ", \"unit\": \"cells/s\", \"peer\": \""
           << peer << "\", \"peer_value\": " << other.median() << ", \"ratio\": " << ratio(value, other).median()
           << ", \"workers\": " << workers << ", \"plane_bytes\": " << grid.plane() * 8 << "}\n";
    };
    record("ring against in-cache limit", ring, "the same kernel with its planes in cache", cache);
    record("ring against sweep", ring, "two arrays, one step a pass through memory", sweep);
    record("in-cache limit against sweep", cache, "two arrays, one step a pass through memory", sweep);
    if (!file) {
      std::fprintf(stderr, "cannot write %s\n", argv[1]);
      return 3;
    }
  }
}
