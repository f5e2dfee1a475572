// Snapshots of a scalar on a grid of cubic cells as VTK ImageData (.vti), which ParaView and VisIt open.
//
// A slab is a plane across x, stored with y running fastest and z next; so the file's axes I, J, K are y, z, x, and its
// Direction says so: programs show the box in the user's axes. The numbers are appended raw, so every plane can be
// written to its place whenever it arrives.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/io/snapshot.hpp"

namespace heat {

class VtiWriter final : public dsea::SnapshotWriter {
 public:
  /// Writes `path`.part and renames it in close(). Throws RunError if the file cannot be written.
  VtiWriter(std::string path, dsea::Field<double> field, std::int64_t nx, std::int64_t ny, std::int64_t nz, double dx,
            double time)
      : path_(std::move(path)),
        part_(path_ + ".part"),
        field_(field),
        plane_bytes_(static_cast<std::int64_t>(sizeof(double)) * ny * nz),
        file_(part_, std::ios::binary | std::ios::trunc) {
    const std::string extent = dsea::cat("0 ", ny, " 0 ", nz, " 0 ", nx);
    file_ << dsea::cat("<?xml version=\"1.0\"?>\n",  //
                       "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                       "header_type=\"UInt64\">\n",
                       "<ImageData WholeExtent=\"", extent, "\" Origin=\"0 0 0\" Spacing=\"", dx, " ", dx, " ", dx,
                       "\" Direction=\"0 0 1 1 0 0 0 1 0\">\n",
                       "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" ",
                       "format=\"ascii\">", time, "</DataArray></FieldData>\n",  //
                       "<Piece Extent=\"", extent, "\"><CellData Scalars=\"T\">",
                       "<DataArray type=\"Float64\" Name=\"T\" format=\"appended\" offset=\"0\"/>",
                       "</CellData></Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_");
    const auto bytes = static_cast<std::uint64_t>(plane_bytes_ * nx);
    file_.write(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    data_ = file_.tellp();
    end_ = data_ + static_cast<std::streamoff>(bytes);
    check("write");
  }

  ~VtiWriter() override {
    if (!path_.empty()) std::remove(part_.c_str());  // not closed: the run has failed
  }

  void slab(int slab, dsea::SlabIn data) override {
    file_.seekp(data_ + static_cast<std::streamoff>(slab * plane_bytes_));
    file_.write(reinterpret_cast<const char*>(data[field_].data), plane_bytes_);
    check("write");
  }

  void close() override {
    file_.seekp(end_);
    file_ << "\n</AppendedData>\n</VTKFile>\n";
    file_.close();
    check("write");
    if (std::rename(part_.c_str(), path_.c_str()) != 0) check("rename");
    path_.clear();
  }

 private:
  void check(const char* what) {
    if (file_ && what[0] == 'w') return;
    throw dsea::RunError(dsea::cat("cannot ", what, " ", part_, ": ", std::generic_category().message(errno),
                                   "; is the disk full, may the folder be written?"));
  }

  std::string path_, part_;
  dsea::Field<double> field_;
  std::int64_t plane_bytes_;
  std::ofstream file_;
  std::streampos data_, end_;
};

}  // namespace heat
