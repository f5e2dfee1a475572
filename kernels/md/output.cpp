#include "kernels/md/output.hpp"

#include <filesystem>
#include <utility>

#include "dsea/base/text.hpp"
#include "kernels/lammps_io/data_writer.hpp"

namespace dsea::md {

namespace {

std::string path_in(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

class DumpSink final : public MoleculeSink {
 public:
  DumpSink(const std::string& path, const lammps::DumpHeader& header) : file_(path, header) {}
  void add(const SnapshotMolecule& molecule) override { file_.add(molecule); }
  void close() override { file_.close(); }

 private:
  lammps::DumpFile file_;
};

class DataSink final : public MoleculeSink {
 public:
  DataSink(const std::string& path, const lammps::DataHeader& header) : file_(path, header) {}
  void add(const SnapshotMolecule& m) override { file_.add({m.id, m.type, m.position, m.velocity, m.image}); }
  void close() override { file_.close(); }

 private:
  lammps::DataWriter file_;
};

/// Hands the molecules of a snapshot to all who want them.
class SinkWriter final : public SnapshotWriter {
 public:
  SinkWriter(std::vector<std::unique_ptr<MoleculeSink>> sinks, const CellGrid& grid, const std::array<int, 3>& axes,
             const SnapshotFields& fields)
      : sinks_(std::move(sinks)), grid_(grid), axes_(axes), fields_(fields) {}

  void slab(int /*slab*/, SlabIn data) override {
    const auto id = data[fields_.id];
    const auto position = data[fields_.position];
    const auto velocity = data[fields_.velocity];
    const auto force = data[fields_.force];
    for (std::int64_t i = 0; i < id.count(); ++i) {
      const SnapshotMolecule m = molecule(id[i], position[i], velocity[i], force[i]);
      for (const auto& sink : sinks_) sink->add(m);
    }
  }

  void close() override {
    for (const auto& sink : sinks_) sink->close();
  }

 private:
  SnapshotMolecule molecule(std::int64_t id, Position p, Velocity v, const ForceEnergy& f) const {
    int boxes[3] = {};
    grid_.x.settle(p.x, v.x, boxes[0]);
    grid_.y.settle(p.y, v.y, boxes[1]);
    grid_.z.settle(p.z, v.z, boxes[2]);
    const std::uint64_t tag = tag_moved(p.tag, boxes[0], boxes[1], boxes[2]);
    SnapshotMolecule m;
    m.id = id;
    m.type = tag_type(tag);
    m.position = user_axes(axes_, p.x, p.y, p.z);
    m.velocity = user_axes(axes_, v.x, v.y, v.z);
    m.force = user_axes(axes_, f.x, f.y, f.z);
    m.image = user_axes(axes_, tag_image(tag, 0), tag_image(tag, 1), tag_image(tag, 2));
    m.potential = f.potential;
    m.virial = f.virial;
    return m;
  }

  std::vector<std::unique_ptr<MoleculeSink>> sinks_;
  const CellGrid& grid_;
  std::array<int, 3> axes_;
  SnapshotFields fields_;
};

}  // namespace

Output::Output(const OutputSettings& settings, const Start& start, const SnapshotFields& fields)
    : settings_(settings),
      fields_(fields),
      grid_(start.grid()),
      axes_(start.axes()),
      masses_(start.masses()),
      first_step_(start.first_step()) {
  header_.molecules = start.molecules();
  header_.lo = user_axes(axes_, grid_.x.lo, grid_.y.lo, grid_.z.lo);
  header_.hi = user_axes(axes_, grid_.x.hi, grid_.y.hi, grid_.z.hi);
  header_.periodic = user_axes(axes_, grid_.x.periodic, grid_.y.periodic, grid_.z.periodic);
  header_.forces = settings_.dump_forces;
  const std::size_t axis = settings_.axis;
  bins_ = {axis, settings_.bins, header_.lo[axis], header_.hi[axis], grid_.volume() / settings_.bins};
}

std::unique_ptr<SnapshotWriter> Output::open(std::int64_t step, const std::string& folder) const {
  std::vector<std::unique_ptr<MoleculeSink>> sinks;
  if (settings_.when.dump(step)) sinks.push_back(open_dump(step, folder));
  if (settings_.when.profile(step)) sinks.push_back(open_profile_step(bins_, masses_, step, folder));
  if (settings_.when.last && step == settings_.steps) sinks.push_back(open_data(step, folder));
  return std::make_unique<SinkWriter>(std::move(sinks), grid_, axes_, fields_);
}

void Output::close(const std::string& folder) const {
  const std::int64_t every = settings_.when.profile_every;
  if (every == 0) return;
  const std::int64_t first = (settings_.when.profile_from + every - 1) / every * every;
  write_profile(bins_, first, every, settings_.steps, folder);
}

std::unique_ptr<MoleculeSink> Output::open_dump(std::int64_t step, const std::string& folder) const {
  lammps::DumpHeader header = header_;
  header.step = step;
  return std::make_unique<DumpSink>(path_in(folder, lammps::dump_name(step)), header);
}

std::unique_ptr<MoleculeSink> Output::open_data(std::int64_t step, const std::string& folder) const {
  const lammps::DataHeader header{cat("LAMMPS data file, timestep = ", first_step_ + step), header_.molecules,
                                  header_.lo, header_.hi, masses_};
  return std::make_unique<DataSink>(path_in(folder, settings_.write_data), header);
}

}  // namespace dsea::md
