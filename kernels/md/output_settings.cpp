#include "kernels/md/output_settings.hpp"

#include <charconv>
#include <filesystem>

#include "dsea/base/text.hpp"
#include "kernels/lammps_io/dump_file.hpp"

namespace dsea::md {

OutputSettings::OutputSettings(const Config& config) {
  steps = config.get<std::int64_t>("run.steps", 1000, between(0, 1e15));
  when.dump_every = config.get<std::int64_t>("output.dump_every", 0, not_negative);
  dump_forces = config.get<bool>("output.dump_forces", true);
  when.profile_every = config.get<std::int64_t>("output.profile_every", 0, not_negative);
  when.profile_from = config.get<std::int64_t>("profile.from_step", 0, between(0, 1e15));
  axis = static_cast<std::size_t>(config.choice("profile.axis", "x", {"x", "y", "z"})[0] - 'x');
  bins = static_cast<int>(config.get<std::int64_t>("profile.bins", 100, between(1, 1e6)));
  if (when.profile_every > 0) {
    const std::int64_t every = when.profile_every;
    const std::int64_t first = (when.profile_from + every - 1) / every * every;
    if (first > steps) {
      config.fail("profile.from_step", cat("the first step of the profile would be ", first, ", but the run has ",
                                           steps, ": make it, or output.profile_every, smaller"));
    }
  }
  if (const auto start = config.find_file("system.dump"); start && when.dump_every > 0) {
    const std::filesystem::path file(*start);
    const std::string name = file.filename().string();
    std::int64_t step = -1;  // of which the start could be a dump
    if (const std::size_t digits = name.find_first_of("0123456789"); digits != std::string::npos) {
      std::from_chars(name.data() + digits, name.data() + name.size(), step);
    }
    const bool written = step >= 0 && step <= steps && when.dump(step) && name == lammps::dump_name(step);
    const std::string out = config.get<std::string>("run.out", "out");
    std::error_code ignored;  // a folder that is not there yet is no other one
    if (written && std::filesystem::equivalent(out, file.parent_path().empty() ? "." : file.parent_path(), ignored)) {
      config.fail("output.dump_every", cat("step ", step, " would overwrite the start of this run, ", *start,
                                           ": choose another folder by --out"));
    }
  }
  if (const auto name = config.find<std::string>("output.write_data")) {
    write_data = *name;
    // Its own extension keeps it from the other files that a run writes.
    const std::filesystem::path file(*name);
    if (file.filename() != *name || file.extension() != ".data" || file.stem().empty()) {
      config.fail("output.write_data",
                  "must be the name of a file in the output folder that ends with .data, such as \"end.data\"");
    }
    const auto written = std::filesystem::path(config.get<std::string>("run.out", "out")) / file;
    const auto input = config.find_file("system.data");
    std::error_code ignored;  // a file that is not there yet is no other one
    if (input && std::filesystem::equivalent(written, *input, ignored)) {
      config.fail("output.write_data", cat("would overwrite the start of this run, ", *input,
                                           ": choose another name, or another folder by --out"));
    }
    when.last = true;
  }
}

}  // namespace dsea::md
