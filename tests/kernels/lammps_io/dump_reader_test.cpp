#include "kernels/lammps_io/dump_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "dsea/base/error.hpp"
#include "kernels/lammps_io/dump_file.hpp"

namespace dsea::lammps {
namespace {

const std::string good =
    "ITEM: UNITS\n"
    "lj\n"
    "ITEM: TIMESTEP\n"
    "100\n"
    "ITEM: NUMBER OF ATOMS\n"
    "3\n"
    "ITEM: BOX BOUNDS pp ff pp\n"
    "0.0 12.0\n"
    "-1.0e0 2.5\n"
    "0 4\n"
    "ITEM: ATOMS id c_pea z y x type vx vy vz mass\n"
    "7 -3.5 3 -0.5 0.5 2 1 2 3 1\n"
    "2 nan 4.5 2.5 12 1 0 0 -1e-3 1\n"
    "9 -0 0 0 -0.25 1 4 5 6 1\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("'" + from + "' is not in the text");
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text, int types = 0) {
  try {
    parse_dump_file(text, "some.dump", types);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

using Triple = std::array<double, 3>;

TEST(DumpReader, TakesWhatItNeedsInAnyOrder) {
  const DataFile file = parse_dump_file(good, "some.dump", 0);
  EXPECT_EQ(file.lo, (Triple{0, -1, 0}));
  EXPECT_EQ(file.hi, (Triple{12, 2.5, 4}));
  EXPECT_EQ(file.types, 2);
  EXPECT_EQ(file.masses, (std::vector<double>{1, 1}));
  EXPECT_TRUE(file.has_velocities);
  ASSERT_EQ(file.molecules.size(), 3U);  // by id
  EXPECT_EQ(file.molecules[0].id, 2);
  EXPECT_EQ(file.molecules[0].position, (Triple{12, 2.5, 0.5}));  // was a little beyond the seam
  EXPECT_EQ(file.molecules[0].image, (std::array<int, 3>{0, 0, 1}));
  EXPECT_EQ(file.molecules[1].type, 2);
  EXPECT_EQ(file.molecules[1].position, (Triple{0.5, -0.5, 3}));
  EXPECT_EQ(file.molecules[1].velocity, (Triple{1, 2, 3}));
  EXPECT_EQ(file.molecules[2].position, (Triple{11.75, 0, 0}));
  EXPECT_EQ(file.molecules[2].image, (std::array<int, 3>{-1, 0, 0}));
}

TEST(DumpReader, ACutLastLineIsAWarning) {
  EXPECT_TRUE(parse_dump_file(good, "d", 0).warnings.empty());
  EXPECT_EQ(parse_dump_file(good.substr(0, good.size() - 1), "d", 0).warnings,
            (std::vector<std::string>{"d:14: the last line has no end of line: was the file cut there?"}));
}

TEST(DumpReader, VelocitiesAndImagesMayBeMissing) {
  const std::string text = replaced(good, "vx vy vz", "fx fy fz");
  EXPECT_FALSE(parse_dump_file(text, "d", 0).has_velocities);
  EXPECT_EQ(parse_dump_file(text, "d", 0).molecules[1].velocity, (Triple{0, 0, 0}));
}

TEST(DumpReader, ImagesAreKept) {
  const std::string text = replaced(replaced(good, "vx vy vz", "iz iy ix"), "-1e-3", "-4");
  const DataFile file = parse_dump_file(text, "d", 0);
  EXPECT_EQ(file.molecules[1].image, (std::array<int, 3>{3, 2, 1}));
  EXPECT_EQ(file.molecules[0].image, (std::array<int, 3>{-4, 0, 1}));
}

TEST(DumpReader, NumberOfTypesMayBeGiven) {
  EXPECT_EQ(parse_dump_file(good, "d", 5).masses.size(), 5U);
  EXPECT_EQ(error_of(good, 1), "some.dump:12: type 2 is unknown: there are 1");
}

TEST(DumpReader, ErrorsNameFileAndLine) {
  const std::string line = "7 -3.5 3 -0.5 0.5 2 1 2 3 1\n";
  const std::pair<std::string, std::string> cases[] = {
      {replaced(good, "ATOMS\n3", "ATOMS\n4"),
       "some.dump:14: there are 3 molecules, but 'ITEM: NUMBER OF ATOMS' says 4"},
      {replaced(good, "ATOMS\n3", "ATOMS\n2"), "some.dump:14: more lines than 'ITEM: NUMBER OF ATOMS' says (2)"},
      {replaced(good, "ATOMS\n3", "ATOMS\n-3"), "some.dump:6: the number of atoms is -3"},
      {replaced(good, line, "7 -3.5 3\n"),
       "some.dump:12: a line must have 10 words, one for each column, this one has 3"},
      {replaced(good, "2 nan", "7 nan"), "some.dump:13: molecule 7 is there twice, first in line 12"},
      {replaced(good, "2 nan", "0 nan"), "some.dump:13: id 0: ids must be positive"},
      {replaced(good, "-0.5 0.5", "-0.5 nan"), "some.dump:12: x is 'nan', which is not a finite number"},
      {replaced(good, "4 5 6", "4 inf 6"), "some.dump:14: vy is 'inf', which is not a finite number"},
      {replaced(good, "0.5 2 1", "0.5 33 1"), "some.dump:12: type 33 is unknown: there are 32 at most"},
      {replaced(good, "0.5 2 1", "0.5 0 1"), "some.dump:12: type 0 is unknown"},
      {replaced(good, "3 -0.5", "3 -1.5"), "some.dump:12: molecule 7 is outside the box: y = -1.5 is not in [-1, 2.5]"},
      {replaced(good, "3 -0.5", "8.1 -0.5"), "some.dump:12: molecule 7 is outside the box: z = 8.0999999999999996"},
      {replaced(good, "BOUNDS pp", "BOUNDS xy xz yz pp"), "some.dump:7: the box is tilted"},
      {replaced(good, "0 4\n", "0 4 0.1\n"), "some.dump:10: the box is tilted"},
      {replaced(good, "0 4\n", "4 4\n"), "some.dump:10: zlo must be less than zhi"},
      {replaced(good, "0 4\n", "4\n"), "some.dump:10: the bounds of z must be two numbers"},
      {replaced(good, " type", " mol"), "some.dump:11: columns are missing: type; needed are id type x y z"},
      {replaced(good, "z y x", "zs ys xs"), "some.dump:11: columns are missing: x y z; needed"},
      {replaced(good, "vx vy vz", "vx fy vz"), "some.dump:11: columns are missing: vy; needed"},
      {replaced(good, "vx vy vz", "ix fy iz"), "some.dump:11: columns are missing: iy; needed"},
      {replaced(good, "ITEM: NUMBER OF ATOMS\n3\n", ""), "some.dump:9: 'ITEM: NUMBER OF ATOMS' is missing before this"},
      {replaced(good, "BOX BOUNDS", "BOX"), "some.dump:7: 'ITEM: BOX pp ff pp' is not understood"},
      {good.substr(0, good.find("ITEM: ATOMS")), "some.dump:10: 'ITEM: ATOMS' is missing"},
      {good + "ITEM: TIMESTEP\n200\n", "some.dump:15: a second snapshot begins here"},
      {"", "some.dump:0: 'ITEM: ATOMS' is missing"},
      {"LAMMPS data file\n", "some.dump:1: 'LAMMPS data file' is not understood: is this a LAMMPS dump?"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(error_of(text).substr(0, message.size()), message) << error_of(text);
  }
}

TEST(DumpReader, ReadsWhatTheDumpWriterWrites) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("dsea_dump_reader_" + std::to_string(::getpid()))).string();
  const DumpHeader header{7, 2, {0, 0, 0}, {1, 2, 3}, {true, true, true}, false};
  {
    DumpFile file(path, header);
    file.add({5, 2, {0.1 + 0.2, 1, 2}, {1.0 / 3, 0, -1}, {}, {0, 1, -2}});
    file.add({3, 1, {0, 0, 0}, {0, 0, 0}, {}, {0, 0, 0}});
    file.close();
  }
  const DataFile file = read_dump_file(path, 2);
  std::filesystem::remove(path);
  EXPECT_EQ(file.molecules[1].id, 5);
  EXPECT_EQ(file.molecules[1].position, (Triple{0.1 + 0.2, 1, 2}));
  EXPECT_EQ(file.molecules[1].velocity[0], 1.0 / 3);
  EXPECT_EQ(file.molecules[1].image, (std::array<int, 3>{0, 1, -2}));
}

}  // namespace
}  // namespace dsea::lammps
