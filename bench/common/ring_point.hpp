// One measurement of the real ring with workers that only occupy their devices, beside what RingPlan says of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsea/comm/mpi_session.hpp"
#include "dsea/ring/ring_plan.hpp"

namespace bench {

struct RingPoint {
  int ranks = 1;
  int workers = 1;  ///< a rank
  int slices = 24;
  int supercycles = 3;          ///< at least 3: the first and the last are not measured
  double stage_seconds = 0.05;  ///< in which a rank's workers advance one slice each
  bool at_once = false;         ///< a rank's workers work side by side, each for a whole stage, as on a GPU's streams;
                                ///< otherwise they take turns, each for its part of the stage
  double payload_bytes = 8;     ///< a slice
  double final_share = 0;       ///< of the payload: carried by all workers, so it goes ahead of slices
  /// Stages that it takes to move a slice: links are held back to that. Nothing: links as fast as they are.
  std::optional<double> link_stages;
  double bandwidth = 0;  ///< of links as fast as they are, for the plan, bytes a second; 0: they take no time
  std::string transport = "local";
  std::vector<std::string> rails;  ///< of transport ucx
};

/// On rank 0; in other processes all is 0.
struct RingMeasured {
  double rate = 0;          ///< slices x steps a second of all ranks, without filling and draining
  double work_seconds = 0;  ///< a stage, of the slowest rank
  double link_seconds = 0;  ///< a slice, of the slowest link; includes waiting for the receiver
  double wall_seconds = 0;
};

dsea::RingPlan plan_of(const RingPoint& point);

/// `session`: null for transport local, where all ranks are threads. Collective over the session. Throws RunError where
/// the ring fails or leaves another state than it should.
RingMeasured measure(const RingPoint& point, dsea::MpiSession* session);

}  // namespace bench
