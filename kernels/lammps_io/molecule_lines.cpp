#include "kernels/lammps_io/molecule_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::lammps {

std::int64_t molecule_id(const LineReader& in, std::string_view word) {
  const std::int64_t id = in.integer(word, "the id");
  if (id < 1) in.fail(cat("id ", id, ": ids must be positive"));
  if (id >= std::int64_t{1} << 56) in.fail(cat("id ", id, " is too large (2^56 or more)"));
  return id;
}

int molecule_image(const LineReader& in, std::string_view word) {
  const std::int64_t n = in.integer(word, "the image flag");
  if (n < -32768 || n > 32767) in.fail(cat("image flag ", n, " is not in -32768 ... 32767"));
  return static_cast<int>(n);
}

void fail_outside(const LineReader& in, const DataMolecule& molecule, std::size_t axis, const DataFile& file) {
  in.fail(cat("molecule ", molecule.id, " is outside the box: ", "xyz"[axis], " = ", molecule.position[axis],
              " is not in [", file.lo[axis], ", ", file.hi[axis], "]; wrap it into the box"));
}

std::string read_text_file(const std::string& path, std::string_view what) {
  const auto fail = [&](const std::string& why) {
    throw UsageError(cat("cannot read the ", what, " ", path, ": ", why));
  };
  using Type = std::filesystem::file_type;
  std::error_code ignored;
  const Type type = std::filesystem::status(path, ignored).type();
  if (type == Type::directory) fail("it is a folder: name a file in it");
  if (type == Type::character || type == Type::block) fail("it is a device: name a file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) fail(cat(std::strerror(errno), ": is the path right?"));
  if (text.view().empty()) fail("it is empty");
  return std::move(text).str();
}

void MoleculeLines::sort(const LineReader& in, std::vector<DataMolecule>& molecules) {
  std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.id < b.id; });
  for (std::size_t i = 1; i < places_.size(); ++i) {
    if (places_[i].id != places_[i - 1].id) continue;
    in.fail_at(places_[i].line,
               cat("molecule ", places_[i].id, " is there twice, first in line ", places_[i - 1].line));
  }
  std::vector<DataMolecule> sorted;
  sorted.reserve(molecules.size());
  for (const Place& p : places_) sorted.push_back(molecules[p.index]);
  molecules = std::move(sorted);
}

std::int64_t MoleculeLines::find(std::int64_t id) const {
  const auto at = std::lower_bound(places_.begin(), places_.end(), id,
                                   [](const Place& p, std::int64_t value) { return p.id < value; });
  return at == places_.end() || at->id != id ? -1 : at - places_.begin();
}

}  // namespace dsea::lammps
