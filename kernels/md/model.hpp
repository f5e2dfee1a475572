// Everything about a molecular dynamics run that is not a kernel: the problem, the start, the table, the output.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsea/base/config.hpp"
#include "dsea/io/snapshot.hpp"
#include "dsea/ring/program.hpp"
#include "dsea/slice/view.hpp"
#include "kernels/cell_list/molecules.hpp"
#include "kernels/md/force_field.hpp"
#include "kernels/md/settings.hpp"
#include "kernels/md/snapshot_fields.hpp"
#include "kernels/md/start.hpp"

namespace dsea::md {

class Output;

/// Side fields of the neighbour lists.
struct ListFieldsOf {
  bool on = false;
  Field<std::int32_t> rows;
  Field<std::int32_t> number;
  Field<std::int32_t> entries;
  Field<double> moved;  ///< of three slabs, when the list was made
};

class Model {
 public:
  /// Reads the configuration and the start. Throws UsageError.
  explicit Model(const Config& config);

  const Problem& problem() const { return problem_; }
  const Start& start() const { return start_; }
  const CellGrid& grid() const { return start_.grid(); }
  const ForceField& force_field() const { return field_; }
  const MoleculeFields& fields() const { return fields_; }
  const ListFieldsOf& list_fields() const { return lists_; }
  const SnapshotFields& snapshot_fields() const { return snapshot_; }
  /// Steps between two sortings, and the kind of worker that sorts.
  int sort_every() const { return sort_every_; }
  int sort_kind() const { return sort_every_ - 1; }
  std::int64_t capacity() const { return capacity_; }  ///< molecules a slab
  std::int64_t away() const { return away_; }          ///< molecules that can move from one slab to the next in a step

  Observable potential() const { return potential_; }
  Observable kinetic() const { return kinetic_; }
  Observable virial() const { return virial_; }

  void upload(const Device& device) { field_.upload(device); }
  void init(int slab, SlabOut out) const;

  /// The molecules as users see them: id, position, velocity and images in the user's axes. Hence independent of slabs
  /// and of the order of molecules.
  std::uint64_t digest(SlabIn slab) const;

  /// A line of the table: see Problem::columns. Per molecule, as LAMMPS prints them in units lj.
  std::vector<double> row(const StepSums& sums) const;

  std::unique_ptr<SnapshotWriter> open_snapshot(std::int64_t step, const std::string& folder) const;
  void close_output(const std::string& folder) const;
  std::string explain(const Fault& fault) const;

 private:
  void choose_forces();
  void choose_lists();
  void describe();

  Settings settings_;
  Start start_;
  ForceField field_;
  int sort_every_ = 1;
  std::int64_t capacity_ = 0;
  std::int64_t away_ = 0;
  Problem problem_;
  MoleculeFields fields_;
  ListFieldsOf lists_;
  SnapshotFields snapshot_;
  std::shared_ptr<const Output> output_;
  Observable potential_, kinetic_, virial_;
};

}  // namespace dsea::md
