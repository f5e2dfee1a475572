#include "kernels/lammps_io/dump_file.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::lammps {

namespace {
constexpr std::size_t buffer_bytes = 1 << 20;
constexpr std::size_t number_bytes = 32;  // of any number in its shortest form
}  // namespace

std::string dump_name(std::int64_t step) { return cat("dump.", step, ".lammpstrj"); }

DumpFile::DumpFile(std::string path, const DumpHeader& header)
    : path_(std::move(path)), part_(path_ + ".part"), expected_(header.molecules) {
  file_ = std::fopen(part_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot be opened for writing");
  buffer_.reserve(buffer_bytes + 1024);
  append(cat("ITEM: TIMESTEP\n", header.step, "\nITEM: NUMBER OF ATOMS\n", header.molecules, "\nITEM: BOX BOUNDS"));
  for (bool periodic : header.periodic) append(periodic ? " pp" : " ff");
  append("\n");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    append_number(header.lo[axis]);
    append(" ");
    append_number(header.hi[axis]);
    append("\n");
  }
  append("ITEM: ATOMS id type x y z vx vy vz fx fy fz ix iy iz\n");
}

DumpFile::~DumpFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(part_.c_str());
}

void DumpFile::add(const DumpMolecule& molecule) {
  append_number(molecule.id);
  append(" ");
  append_number(molecule.type);
  for (const auto* numbers : {&molecule.position, &molecule.velocity, &molecule.force}) {
    for (double value : *numbers) {
      append(" ");
      append_number(value);
    }
  }
  for (int value : molecule.image) {
    append(" ");
    append_number(value);
  }
  append("\n");
  ++written_;
  if (buffer_.size() >= buffer_bytes) flush();
}

void DumpFile::close() {
  if (written_ != expected_) fail(cat("has ", written_, " molecules, but its header says ", expected_));
  flush();
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("cannot be written to its end");
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to its final name");
}

void DumpFile::append(std::string_view text) { buffer_.append(text); }

template <class T>
void DumpFile::append_number(T value) {
  char digits[number_bytes];
  const auto [end, error] = std::to_chars(digits, digits + number_bytes, value);
  static_cast<void>(error);  // the shortest form of a 64-bit number always fits
  buffer_.append(digits, end);
}

void DumpFile::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) fail("cannot be written");
  buffer_.clear();
}

void DumpFile::fail(std::string_view what) const {
  const int code = errno;
  throw RunError(cat("the dump ", part_, " ", what, code != 0 ? cat(" (", std::strerror(code), ")") : std::string()));
}

}  // namespace dsea::lammps
