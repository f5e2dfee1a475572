// Dumps and profiles of ljmd: what is in them, and the same bits for every ring.
#include "apps/ljmd/output_run.hpp"

#include <cmath>

namespace dsea::md::test {
namespace {

using Table = std::vector<std::vector<double>>;

/// The numbers behind the header line.
Table table_of(const std::string& csv) {
  std::istringstream in(csv);
  std::string line;
  std::getline(in, line);
  Table table;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::vector<double> numbers;
    for (std::string word; std::getline(words, word, ',');) numbers.push_back(std::stod(word));
    table.push_back(numbers);
  }
  return table;
}

void expect_close(double value, double reference, const std::string& what) {
  EXPECT_NEAR(value, reference, 1e-11 * std::max(1.0, std::abs(reference))) << what;
}

TEST_F(OutputRun, DumpedPlacesAreInsideTheBoxAndImagesGoOn) {
  std::string hot = mixture + "[boundary]\nz = \"mirror\"\n";
  hot.replace(hot.find("temperature = 2.0"), 17, "temperature = 10.0");
  for (const char* stream : {"x", "y"}) {
    run("out", hot + "[ring]\nstream = \"" + stream + "\"\n[run]\nsteps = 60\n[output]\ndump_every = 1\n", 2, 2);
    const Model model(Config::from_text(hot));
    const auto length = model.start().lengths();
    ReferenceDump before = dump("out/dump.0.lammpstrj");
    int passed = 0;
    for (int step = 1; step <= 60; ++step) {
      ReferenceDump now = dump("out/dump." + std::to_string(step) + ".lammpstrj");
      EXPECT_EQ(now.bounds, "pp pp ff");
      ASSERT_EQ(now.atoms.size(), before.atoms.size());
      for (auto& [id, atom] : now.atoms) {
        auto& earlier = before.atoms.at(id);
        for (std::size_t k = 0; k < 3; ++k) {
          const std::string x(1, "xyz"[k]);
          ASSERT_GE(atom[x], 0) << x << " of " << id << " at step " << step;
          ASSERT_LE(atom[x], length[k]) << x << " of " << id << " at step " << step;
          ASSERT_TRUE(k == 2 || atom[x] < length[k]);
          const double moved = atom[x] - earlier[x] + length[k] * (atom["i" + x] - earlier["i" + x]);
          ASSERT_LT(std::abs(moved), 0.2) << x << " of " << id << " at step " << step;
          if (atom["i" + x] != earlier["i" + x]) ++passed;
        }
        ASSERT_EQ(atom["iz"], 0);
      }
      before = now;
    }
    EXPECT_GT(passed, 50);  // molecules have been through a seam, most of them between two sortings
  }
}

TEST_F(OutputRun, ForcesMayBeLeftOut) {
  const std::string toml = mixture + "[run]\nsteps = 2\n[output]\ndump_every = 2\n";
  run("with", toml);
  EXPECT_EQ(dump("with/dump.2.lammpstrj").columns, "id type x y z vx vy vz fx fy fz ix iy iz");
  run("without", toml + "dump_forces = false\n");
  EXPECT_EQ(dump("without/dump.2.lammpstrj").columns, "id type x y z vx vy vz ix iy iz");
  EXPECT_EQ(dump("without/dump.2.lammpstrj").atoms.at(17).at("vz"),
            dump("with/dump.2.lammpstrj").atoms.at(17).at("vz"));
}

TEST_F(OutputRun, OneBinHasTheMeansOfTheTable) {
  const RunOutcome outcome = run("out", mixture +
                                            "[run]\nsteps = 20\n[output]\nthermo_every = 5\nprofile_every = 5\n"
                                            "[profile]\naxis = \"y\"\nbins = 1\nfrom_step = 6\n");
  const Table profile = table_of(text("out/profile.csv"));
  EXPECT_EQ(text("out/profile.csv").substr(0, 58), "y,samples,density,temperature,potential,pressure,vx,vy,vz\n");
  ASSERT_EQ(profile.size(), 1U);
  const Model model(Config::from_text(mixture));
  double temperature = 0, potential = 0, pressure = 0;
  for (const TableRow& row : outcome.rows) {
    if (row.step < 6) continue;
    temperature += row.columns[0] / 3;
    potential += row.columns[1] / 3;
    pressure += row.columns[3] / 3;
  }
  const auto n = static_cast<double>(model.start().molecules());
  expect_close(profile[0][0], model.start().lengths()[1] / 2, "centre");
  expect_close(profile[0][1], 3 * n, "samples of steps 10, 15, 20");
  expect_close(profile[0][2], 0.7, "density");
  expect_close(profile[0][3], temperature * (3 * n - 3) / (3 * n), "temperature");
  expect_close(profile[0][4], potential, "potential energy");
  expect_close(profile[0][5], pressure, "pressure");
  for (std::size_t k = 6; k < 9; ++k) EXPECT_NEAR(profile[0][k], 0, 1e-12);
}

TEST_F(OutputRun, BinsHoldWhatDumpsSay) {
  constexpr int bins = 7;
  const std::string gravity = "[boundary]\nz = \"mirror\"\n[gravity]\nz = -0.5\n";
  run("out", mixture + gravity +
                 "[run]\nsteps = 12\n[output]\nprofile_every = 4\ndump_every = 4\n[profile]\naxis = \"z\"\n"
                 "bins = 7\n");
  const Table profile = table_of(text("out/profile.csv"));
  ASSERT_EQ(profile.size(), static_cast<std::size_t>(bins));
  const Model model(Config::from_text(mixture + gravity));
  const double length = model.start().lengths()[2];
  double n[bins] = {}, mass[bins] = {}, momentum[bins][3] = {}, squares[bins] = {};
  for (int step : {0, 4, 8, 12}) {
    ReferenceDump d = dump("out/dump." + std::to_string(step) + ".lammpstrj");
    for (auto& [id, atom] : d.atoms) {
      const int bin = std::min(bins - 1, static_cast<int>(atom["z"] / length * bins));
      const double m = atom["type"] == 1 ? 1.0 : 2.0;
      n[bin] += 1;
      mass[bin] += m;
      const double v[] = {atom["vx"], atom["vy"], atom["vz"]};
      for (int k = 0; k < 3; ++k) {
        momentum[bin][k] += m * v[k];
        squares[bin] += m * v[k] * v[k];
      }
    }
  }
  for (int b = 0; b < bins; ++b) {
    const auto& row = profile[static_cast<std::size_t>(b)];
    const std::string at = "bin " + std::to_string(b);
    expect_close(row[0], length * (b + 0.5) / bins, at);
    EXPECT_EQ(row[1], n[b]) << at;
    expect_close(row[2], n[b] / (4 * model.grid().volume() / bins), at);
    double thermal = squares[b];
    for (int k = 0; k < 3; ++k) {
      expect_close(row[static_cast<std::size_t>(6 + k)], momentum[b][k] / mass[b], at);
      thermal -= momentum[b][k] * momentum[b][k] / mass[b];
    }
    expect_close(row[3], thermal / (3 * n[b]), at);
  }
}

TEST_F(OutputRun, ProfilesHaveTheSameBitsForEveryRing) {
  const std::string toml =
      mixture + "[run]\nsteps = 37\n[output]\nprofile_every = 3\ndump_every = 5\n[profile]\nbins = 40\n";
  const DeviceOptions delayed{.backend = "host", .async_streams = true, .delay_seed = 5};
  run("one", toml);
  run("six", toml, 3, 2);
  run("late", toml, 2, 3, delayed);
  ASSERT_GT(text("one/profile.csv").size(), 1000U);
  for (const std::string other : {"six", "late"}) {
    EXPECT_EQ(text("one/profile.csv"), text(other + "/profile.csv")) << other;
    EXPECT_EQ(text("one/dump.35.lammpstrj"), text(other + "/dump.35.lammpstrj")) << other;
    EXPECT_EQ(files("one"), files(other));
  }
  for (const std::string& name : files("six")) {
    EXPECT_EQ(name.find(".sums"), std::string::npos) << name;
    EXPECT_EQ(name.find(".part"), std::string::npos) << name;
  }
}

TEST_F(OutputRun, WhatCannotBeIsRefused) {
  const auto error = [&](const std::string& more) -> std::string {
    try {
      run("out", mixture + "[run]\nsteps = 10\n" + more);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::pair<const char*, const char*> cases[] = {
      {"[profile]\naxis = \"r\"\n", "profile.axis"},
      {"[profile]\nbins = 0\n", "profile.bins"},
      {"[output]\nprofile_every = 4\n[profile]\nfrom_step = 9\n", "the first step of the profile would be 12, but"},
      {"[output]\nprofile_every = -1\n", "output.profile_every"},
      {"[output]\nwrite_data = \"there/end.data\"\n", "output.write_data"},
      {"[output]\nwrite_data = \"\"\n", "output.write_data"},
  };
  for (const auto& [more, message] : cases) EXPECT_NE(error(more).find(message), std::string::npos) << error(more);
}

}  // namespace
}  // namespace dsea::md::test
