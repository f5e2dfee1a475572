// What readers of molecules, one a line, have in common.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/lammps_io/data_file.hpp"
#include "kernels/lammps_io/line_reader.hpp"

namespace dsea::lammps {

/// Words of the current line; UsageError with file and line for what cannot be.
std::int64_t molecule_id(const LineReader& in, std::string_view word);  ///< 1 ... 2^56 - 1
int molecule_image(const LineReader& in, std::string_view word);        ///< 16 bits

/// Says that the molecule of the current line is outside the box along an axis.
[[noreturn]] void fail_outside(const LineReader& in, const DataMolecule& molecule, std::size_t axis,
                               const DataFile& file);

/// The text of a file. Throws UsageError; `what` stands for the file: "data file".
std::string read_text_file(const std::string& path, std::string_view what);

/// Remembers in which line each molecule was, for the order of ids.
class MoleculeLines {
 public:
  /// Once for each molecule, in the order of the file.
  void add(std::int64_t id, std::int64_t line) { places_.push_back({id, line, places_.size()}); }

  /// Puts the molecules in order of their ids. UsageError if one is there twice.
  void sort(const LineReader& in, std::vector<DataMolecule>& molecules);

  /// After sort(): where a molecule is, or -1.
  std::int64_t find(std::int64_t id) const;

 private:
  struct Place {
    std::int64_t id;
    std::int64_t line;
    std::size_t index;
  };
  std::vector<Place> places_;
};

}  // namespace dsea::lammps
