// Runs heat problems in process and hands their final state to tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/heat/heat.hpp"

namespace heat_test {

struct Box {
  int nx = 8, ny = 8, nz = 8;
  double dx = 1, dt = 0.125, diffusivity = 1;
  bool periodic[3] = {true, true, true};
  std::string start = "random";
  std::int64_t steps = 10;

  std::string toml() const {
    const auto faces = [&](int a) { return periodic[a] ? "\"periodic\"" : "\"insulated\""; };
    return dsea::cat("grid = {nx = ", nx, ", ny = ", ny, ", nz = ", nz, ", dx = ", dx, "}\nboundary = {x = ", faces(0),
                     ", y = ", faces(1), ", z = ", faces(2), "}\nheat = {diffusivity = ", diffusivity, ", dt = ", dt,
                     ", start = \"", start, "\"}\nrun.steps = ", steps, "\n");
  }

  std::size_t at(int i, int j, int k) const {
    return (static_cast<std::size_t>(i) * static_cast<std::size_t>(ny) + static_cast<std::size_t>(j)) *
               static_cast<std::size_t>(nz) +
           static_cast<std::size_t>(k);
  }
  std::size_t cells() const { return at(nx, 0, 0); }
};

/// Snapshots by step, [at(i, j, k)].
using Snapshots = std::map<std::int64_t, std::vector<double>>;

/// Heat, but its snapshots stay in memory.
class Probe : public heat::Heat {
 public:
  Probe(const dsea::Config& config, const Box& box, Snapshots& snapshots)
      : heat::Heat(config), box_(box), snapshots_(&snapshots) {}

  std::unique_ptr<dsea::SnapshotWriter> open_snapshot(std::int64_t step, const std::string&) const {
    class Keep : public dsea::SnapshotWriter {
     public:
      Keep(const Box& box, std::vector<double>& T) : box_(box), T_(&T) { T_->resize(box.cells()); }
      void slab(int slab, dsea::SlabIn data) override {
        const auto T = data[dsea::Field<double>{0}];
        for (int k = 0; k < box_.nz; ++k) {
          for (int j = 0; j < box_.ny; ++j) (*T_)[box_.at(slab, j, k)] = T[k * box_.ny + j];
        }
      }
      void close() override {}

     private:
      Box box_;
      std::vector<double>* T_;
    };
    return std::make_unique<Keep>(box_, (*snapshots_)[step]);
  }

 private:
  Box box_;
  Snapshots* snapshots_;
};

struct Result {
  dsea::RunOutcome outcome;
  Snapshots snapshots;
};

/// One snapshot, of the last step, if not told otherwise. One position of the ring writes a snapshot, so the map is
/// filled by one rank's io thread at a time only if snapshots do not overlap: ask for one when there are several ranks.
inline Result run(const Box& box, int ranks = 1, int workers = 1, std::int64_t dump_every = 0,
                  const dsea::DeviceOptions& device = {}, const std::string& more = "") {
  const std::int64_t every = dump_every > 0 ? dump_every : box.steps;
  const auto config = dsea::Config::from_text(dsea::cat(
      box.toml(), "ring.workers = ", workers, "\noutput = {thermo_every = 1, dump_every = ", every, "}\n", more));
  Result result;
  result.outcome = dsea::run_local(
      [&](const dsea::Config& c) { return std::make_unique<dsea::ProgramOf<Probe>>(c, box, result.snapshots); }, config,
      ranks, device);
  return result;
}

}  // namespace heat_test
