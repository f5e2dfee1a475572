// The framework's side of a Stage: everything one call of run(), merge() or finish() may see.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dsea/ring/ledger.hpp"
#include "dsea/ring/program.hpp"
#include "dsea/ring/slots.hpp"
#include "dsea/ring/stage_machine.hpp"
#include "dsea/ring/topology.hpp"

namespace dsea {

class Contributions;

/// When the phases of a stage began. The events are there from the start; a stage uses as many as it needs.
struct PhaseMarks {
  std::vector<Event> events;
  std::vector<int> phases;
  std::size_t used = 0;
};

/// Filled by the StageRunner for every call; lives as long as the call. Not for users.
struct StageContext {
  // the same for all calls of a run
  const Problem* problem = nullptr;
  const Topology* topology = nullptr;
  Slots* slots = nullptr;
  const Ledger* ledger = nullptr;
  std::int64_t feedback_delay = 0;

  // the same for all calls of a stage
  StageJob job;
  const Kind* kind = nullptr;  ///< null: slices are handed on
  int in_ring = 0;
  int out_ring = 0;
  std::int64_t step = 0;
  std::uint32_t read_mask = 0;        ///< fields in(d) may show
  std::uint32_t write_mask = 0;       ///< fields run() may write in out(0)
  std::uint32_t contribute_mask = 0;  ///< fields with regions
  bool makes_side = false;
  bool observing = false;
  Stream* stream = nullptr;
  std::byte* scratch = nullptr;
  std::size_t scratch_size = 0;
  std::byte* reduce_scratch = nullptr;
  std::size_t reduce_scratch_size = 0;
  std::uint64_t* fault_word = nullptr;
  Contributions* contributions = nullptr;
  PhaseMarks* marks = nullptr;

  // of this call
  bool merging = false;
  int slab = 0;
  Topology::Place place;
  double* observables = nullptr;       ///< one a declared observable, in device memory
  const RawField* snapshot = nullptr;  ///< null: none wanted
  std::size_t scratch_used = 0;

  std::int64_t in_item(int slice) const { return job.item - job.slice + slice; }
  std::int64_t out_item(int slice) const { return job.out_item - job.slice + slice; }
};

}  // namespace dsea
