// What the kernels of a run need besides the molecules: cells, pairs, types, thermostat. Tables in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "dsea/device/table.hpp"
#include "kernels/cell_list/cell_grid.hpp"
#include "kernels/md/integrate.hpp"
#include "kernels/md/pair/laws.hpp"

namespace dsea::md {

/// Velocities of a slab are scaled so that its temperature is this, at every step.
struct Rescale {
  bool on = false;
  double temperature = 0;
  bool each_type = false;  ///< every type of molecules by itself
};

struct ForceField {
  CellGrid grid;             ///< for kernels, after upload()
  Table<double> slab_edges;  ///< see SlabAxis::edges; empty: slabs of equal width
  double margin = 0;         ///< how far a molecule may leave its cell between two sortings
  double width = 0;          ///< of the narrowest slab or cell: how far it may leave it when it is sorted anew
  LawIndex law;
  Table<PairRow> pairs;  ///< types x types
  double cutoff = 0;     ///< the largest of all pairs
  Table<TypeRow> types;
  bool gravity = false;
  double dt = 0;
  Langevin langevin;  ///< the step is filled in
  Rescale rescale;
  double skin = 0;      ///< of neighbour lists; 0: no lists
  int list_stride = 0;  ///< entries a molecule may have

  int type_count() const { return static_cast<int>(types.size()); }
  void upload(const Device& device) {
    pairs.upload(device);
    types.upload(device);
    slab_edges.upload(device);
    if (slab_edges.size() > 0) grid.x.edges = slab_edges.view();
  }
};

}  // namespace dsea::md
