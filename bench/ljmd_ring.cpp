// What the ring costs molecular dynamics: a ring of one process against the bare kernels in a loop over all slabs,
// which sorts and makes lists at the same steps.
//
// ljmd_ring [FILE.jsonl [WORKERS [CELLS [ROUNDS [THREADS]]]]]     CELLS^3 fcc cells of 4 molecules, density 0.5
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "common/sample.hpp"
#include "dsea/base/openmp.hpp"
#include "kernels/md/md.hpp"
#include "kernels/md/sweep.hpp"

namespace {

using bench::now;
using bench::Sample;
using dsea::md::Model;

/// Molecules x steps a second of `periods` periods between sortings.
double bare_rate(const Model& model, dsea::md::Sweep& sweep, int periods) {
  const double start = now();
  for (int s = 0; s < periods * model.sort_every(); ++s) sweep.step();
  return static_cast<double>(model.start().molecules()) * periods * model.sort_every() / (now() - start);
}

double ring_rate(const dsea::Config& config, double molecules, int threads) {
  const auto outcome = dsea::run_local<dsea::md::Md>(config, 1, {.backend = "host", .threads = threads});
  return molecules * outcome.ring.steady_steps / outcome.ring.steady_seconds;
}

}  // namespace

int main(int argc, char** argv) {
  dsea::restart_with_short_spin(argv);
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int workers = number(2, 8), cells = number(3, 40), rounds = number(4, 5), threads = number(5, 1);
  const auto config = dsea::Config::from_text(
      dsea::cat("system = {lattice = \"fcc\", cells = [", cells, ", ", cells, ", ", cells,
                "], density = 0.5, temperature = 1.5}\nneighbour.every = ", workers, "\nring.workers = ", workers,
                "\nrun.steps = ", 10 * workers, "\noutput.thermo_every = 0\n"));
  const Model model(config);
  dsea::md::Sweep sweep(model.force_field(), model.capacity(), model.away(), model.sort_every(), threads);
  for (int i = 0; i < model.grid().slabs(); ++i) model.start().fill(i, sweep.slab(i).out());
  const auto molecules = static_cast<double>(model.start().molecules());
  bare_rate(model, sweep, 2);  // pages, caches

  Sample bare, ring;
  for (int i = 0; i < rounds; ++i) {
    bare.values.push_back(bare_rate(model, sweep, 6));
    ring.values.push_back(ring_rate(config, molecules, threads));
    std::fprintf(stderr, "round %d of %d\n", i + 1, rounds);
  }
  const Sample ratio = bench::ratio(ring, bare);
  std::printf("ljmd, %.0f molecules, %d slabs, %d workers, sorted every %d steps, %d threads, %d rounds\n\n", molecules,
              model.grid().slabs(), workers, model.sort_every(), threads, rounds);
  bench::print_head();
  bench::print_line("bare kernels, 10^6 molecule steps/s", bare, 1e6);
  bench::print_line("ring, 10^6 molecule steps/s", ring, 1e6);
  bench::print_line("ring against bare kernels", ratio, 1);
  if (argc > 1) {
    std::ofstream file(argv[1]);
    file << "{\"case\": \"ring against bare kernels\", \"value\": " << ring.median()
         << ", \"unit\": \"molecule steps/s\", \"peer\": \"the bare kernels in a loop\", \"peer_value\": "
         << bare.median() << ", \"ratio\": " << ratio.median() << ", \"workers\": " << workers
         << ", \"molecules\": " << molecules << "}\n";
    if (!file) {
      std::fprintf(stderr, "cannot write %s\n", argv[1]);
      return 3;
    }
  }
}
