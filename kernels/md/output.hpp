// What a run leaves in its folder: LAMMPS dumps, profile.csv, a LAMMPS data file of the last step.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsea/io/snapshot.hpp"
#include "kernels/md/molecule_sink.hpp"
#include "kernels/md/output_settings.hpp"
#include "kernels/md/profile.hpp"
#include "kernels/md/snapshot_fields.hpp"
#include "kernels/md/start.hpp"

namespace dsea::md {

/// Internal axes to the user's.
template <class T>
std::array<T, 3> user_axes(const std::array<int, 3>& axes, T x, T y, T z) {
  std::array<T, 3> result{};
  const T values[] = {x, y, z};
  for (std::size_t k = 0; k < 3; ++k) result[static_cast<std::size_t>(axes[k])] = values[k];
  return result;
}

class Output {
 public:
  Output(const OutputSettings& settings, const Start& start, const SnapshotFields& fields);

  /// Where the snapshot of a step goes, whatever is written of it. Molecules that have left a periodic box since they
  /// were sorted are brought back into it.
  std::unique_ptr<SnapshotWriter> open(std::int64_t step, const std::string& folder) const;

  /// The run has ended well: makes the profile. For one rank.
  void close(const std::string& folder) const;

 private:
  std::unique_ptr<MoleculeSink> open_dump(std::int64_t step, const std::string& folder) const;
  std::unique_ptr<MoleculeSink> open_data(std::int64_t step, const std::string& folder) const;

  OutputSettings settings_;
  SnapshotFields fields_;
  CellGrid grid_;
  std::array<int, 3> axes_;
  std::vector<double> masses_;
  std::int64_t first_step_ = 0;  // of types 1, 2, ...
  lammps::DumpHeader header_;    // but for the step
  ProfileBins bins_;
};

}  // namespace dsea::md
