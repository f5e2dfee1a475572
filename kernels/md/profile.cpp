#include "kernels/md/profile.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "kernels/lammps_io/part_file.hpp"

namespace dsea::md {

namespace {

std::string sums_path(const std::string& folder, std::int64_t step) {
  return (std::filesystem::path(folder) / cat("profile.", step, ".sums")).string();
}

/// A file of sums: this, then the bins, as they lie in memory.
struct SumsHeader {
  std::int64_t step = 0;
  std::int64_t bins = 0;
};
static_assert(std::is_trivially_copyable_v<BinSums>);

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), sizeof(T) * count};
}

class ProfileStep final : public MoleculeSink {
 public:
  ProfileStep(const ProfileBins& bins, const std::vector<double>& masses, std::int64_t step, const std::string& folder)
      : bins_(bins),
        masses_(masses),
        step_(step),
        sums_(static_cast<std::size_t>(bins.count)),
        file_("profile", sums_path(folder, step)) {}

  void add(const SnapshotMolecule& molecule) override {
    const auto bin = static_cast<std::size_t>(bins_.at(molecule.position[bins_.axis]));
    sums_[bin].add(molecule, masses_[static_cast<std::size_t>(molecule.type - 1)]);
  }

  void close() override {
    const SumsHeader header{step_, bins_.count};
    file_.text(bytes_of(&header, 1));
    file_.text(bytes_of(sums_.data(), sums_.size()));
    file_.close();
  }

 private:
  ProfileBins bins_;
  const std::vector<double>& masses_;
  std::int64_t step_;
  std::vector<BinSums> sums_;
  lammps::PartFile file_;
};

void add_step(std::vector<BinSums>& total, std::int64_t step, const std::string& folder) {
  const std::string path = sums_path(folder, step);
  SumsHeader header;
  std::vector<BinSums> sums(total.size());
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  file.read(reinterpret_cast<char*>(sums.data()), static_cast<std::streamsize>(sizeof(BinSums) * sums.size()));
  if (!file || header.step != step || header.bins != static_cast<std::int64_t>(total.size())) {
    throw RunError(cat("cannot read the sums of step ", step, " in ", path,
                       ", without which there is no profile.csv: do all ranks see the same output folder?"));
  }
  for (std::size_t bin = 0; bin < total.size(); ++bin) total[bin].add(sums[bin]);
}

}  // namespace

void BinSums::add(const SnapshotMolecule& molecule, double molecule_mass) {
  molecules += 1;
  mass += molecule_mass;
  double speed2 = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    momentum[k] += molecule_mass * molecule.velocity[k];
    speed2 += molecule.velocity[k] * molecule.velocity[k];
  }
  squares += molecule_mass * speed2;
  potential += molecule.potential;
  virial += molecule.virial;
}

void BinSums::add(const BinSums& other) {
  molecules += other.molecules;
  mass += other.mass;
  for (std::size_t k = 0; k < 3; ++k) momentum[k] += other.momentum[k];
  squares += other.squares;
  potential += other.potential;
  virial += other.virial;
}

ProfileRow::ProfileRow(const BinSums& sums, std::int64_t steps, double bin_volume) {
  if (sums.molecules == 0) return;
  const double volume = bin_volume * static_cast<double>(steps);
  double drift = 0;  // M times the square of the mean velocity
  for (std::size_t k = 0; k < 3; ++k) {
    velocity[k] = sums.momentum[k] / sums.mass;
    drift += sums.momentum[k] * velocity[k];
  }
  const double thermal = sums.squares - drift;
  density = sums.molecules / volume;
  temperature = thermal / (3 * sums.molecules);
  potential = sums.potential / sums.molecules;
  pressure = (thermal + sums.virial) / (3 * volume);
}

std::unique_ptr<MoleculeSink> open_profile_step(const ProfileBins& bins, const std::vector<double>& masses,
                                                std::int64_t step, const std::string& folder) {
  return std::make_unique<ProfileStep>(bins, masses, step, folder);
}

void write_profile(const ProfileBins& bins, std::int64_t first, std::int64_t every, std::int64_t last,
                   const std::string& folder) {
  std::vector<BinSums> total(static_cast<std::size_t>(bins.count));
  std::int64_t steps = 0;
  for (std::int64_t step = first; step <= last; step += every, ++steps) add_step(total, step, folder);
  lammps::PartFile file("profile", (std::filesystem::path(folder) / "profile.csv").string());
  file.write(cat("xyz"[bins.axis], ",samples,density,temperature,potential,pressure,vx,vy,vz\n"));
  for (int bin = 0; bin < bins.count; ++bin) {
    const BinSums& sums = total[static_cast<std::size_t>(bin)];
    const ProfileRow row(sums, steps, bins.volume);
    file.write(bins.centre(bin), ",", static_cast<std::int64_t>(sums.molecules), ",", row.density, ",", row.temperature,
               ",", row.potential, ",", row.pressure);
    for (double v : row.velocity) file.write(",", v);
    file.text("\n");
  }
  file.close();
  std::error_code error;  // what cannot be removed does no harm
  for (std::int64_t step = first; step <= last; step += every) {
    std::filesystem::remove(sums_path(folder, step), error);
  }
}

}  // namespace dsea::md
