#include "kernels/lammps_io/part_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::lammps {

PartFile::PartFile(std::string what, std::string path)
    : what_(std::move(what)), path_(std::move(path)), part_(path_ + ".part") {
  file_ = std::fopen(part_.c_str(), "w+b");
  if (file_ == nullptr) fail("cannot be opened for writing");
}

PartFile::~PartFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(part_.c_str());
}

void PartFile::close() {
  flush();
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    const int code = errno;
    std::remove(part_.c_str());
    errno = code;
    fail("cannot be written to its end");
  }
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to its final name");
}

void PartFile::append_to(PartFile& other) {
  flush();
  std::rewind(file_);
  std::string piece(1 << 16, '\0');
  for (std::size_t n = piece.size(); n == piece.size();) {
    n = std::fread(piece.data(), 1, piece.size(), file_);
    other.text(std::string_view(piece).substr(0, n));
  }
  if (std::ferror(file_) != 0) fail("cannot be read again");
}

void PartFile::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) fail("cannot be written");
  buffer_.clear();
}

void PartFile::fail(std::string_view what) const {
  const int code = errno;
  throw RunError(
      cat("the ", what_, " ", part_, " ", what, code != 0 ? cat(" (", std::strerror(code), ")") : std::string()));
}

}  // namespace dsea::lammps
