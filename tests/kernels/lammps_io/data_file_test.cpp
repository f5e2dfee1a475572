#include "kernels/lammps_io/data_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "dsea/base/error.hpp"

namespace dsea::lammps {
namespace {

const std::string good =
    "a comment, 7 atoms\n"
    "\n"
    "3 atoms\n"
    "1 atom types\n"
    "0 bonds\n"
    "0.0 12.0 xlo xhi\n"
    "-1 2.5e0 ylo yhi   # bounds\n"
    "0 4 zlo zhi\n"
    "\n"
    "Masses\n"
    "\n"
    "1 2.5  # argon\n"
    "\n"
    "Pair Coeffs # lj/cut\n"
    "\n"
    "1 1 1 2.5\n"
    "\n"
    "Atoms # atomic\n"
    "\n"
    "7 1 0.5 -0.5 3 0 1 -2\n"
    "2 1 12 2.5 4.0 0 0 0\n"
    "# in between\n"
    "9 1 +1e-1 0 0 0 0 0\n"
    "\n"
    "Velocities\n"
    "\n"
    "9 1 2 3\n"
    "2 -1 -2 -3.5\n"
    "7 0 0 0\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("'" + from + "' is not in the text");
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  try {
    parse_data_file(text, "some.data");
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(DataFile, ReadsWhatItShould) {
  const DataFile file = parse_data_file(good, "some.data");
  EXPECT_EQ(file.lo, (std::array<double, 3>{0, -1, 0}));
  EXPECT_EQ(file.hi, (std::array<double, 3>{12, 2.5, 4}));
  EXPECT_EQ(file.masses, (std::vector<double>{2.5}));
  EXPECT_TRUE(file.has_velocities);
  ASSERT_EQ(file.molecules.size(), 3U);  // by id
  EXPECT_EQ(file.molecules[0].id, 2);
  EXPECT_EQ(file.molecules[0].velocity, (std::array<double, 3>{-1, -2, -3.5}));
  EXPECT_EQ(file.molecules[1].id, 7);
  EXPECT_EQ(file.molecules[1].position, (std::array<double, 3>{0.5, -0.5, 3}));
  EXPECT_EQ(file.molecules[1].image, (std::array<int, 3>{0, 1, -2}));
  EXPECT_EQ(file.molecules[2].id, 9);
  EXPECT_EQ(file.molecules[2].position[0], 0.1);
}

TEST(DataFile, OptionalPartsMayBeMissing) {
  std::string text = good.substr(0, good.find("Velocities"));
  text = replaced(text, "Masses\n\n1 2.5  # argon\n", "");
  text = replaced(text, "0 1 -2\n", "\n");
  text = replaced(text, "4.0 0 0 0\n", "4.0\n");
  text = replaced(text, "0 0 0 0 0\n", "0 0\r\n");
  const DataFile file = parse_data_file(text, "some.data");
  EXPECT_FALSE(file.has_velocities);
  EXPECT_EQ(file.masses, (std::vector<double>{1.0}));
  EXPECT_EQ(file.molecules.size(), 3U);
}

TEST(DataFile, NoMoleculesNeedNoAtoms) {
  const DataFile file = parse_data_file("x\n0 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n", "d");
  EXPECT_TRUE(file.molecules.empty());
}

TEST(DataFile, NumbersKeepAllBits) {
  const DataFile file =
      parse_data_file(replaced(good, "0.5 -0.5 3 0", "0.58709627315500001 2.0830000000000002 3 0"), "d");
  EXPECT_EQ(file.molecules[1].position[0], 0.58709627315500001);
  EXPECT_EQ(file.molecules[1].position[1], 2.0830000000000002);
}

TEST(DataFile, ErrorsNameFileAndLine) {
  const std::pair<std::string, std::string> cases[] = {
      {replaced(good, "0.5 -0.5 3 0 1 -2", "0.5 -0.5"), "some.data:20: section Atoms: a line must have id type x y z"},
      {replaced(good, "0.5 -0.5 3 0 1 -2", "0.5 -0.5 3"), "some.data:21: either all molecules have image flags or"},
      {replaced(good, "0.5 -0.5 3", "0.5 nan 3"), "some.data:20: y is 'nan', which is not a finite number"},
      {replaced(good, "0.5 -0.5 3", "0.5 0.1x 3"), "some.data:20: y is '0.1x', which is not a number"},
      {replaced(good, "0.5 -0.5 3", "0.5 -1.5 3"), "some.data:20: molecule 7 is outside the box: y = -1.5"},
      {replaced(good, "0 1 -2", "0 1 99999"), "some.data:20: image flag 99999 is not in"},
      {replaced(good, "2 1 12", "7 1 12"), "some.data:21: molecule 7 is there twice, first in line 20"},
      {replaced(good, "2 1 12", "0 1 12"), "some.data:21: id 0: ids must be positive"},
      {replaced(good, "2 1 12", "2.0 1 12"), "some.data:21: the id is '2.0', which is not a whole number"},
      {replaced(good, "2 1 12", "2 3 12"), "some.data:21: type 3 is unknown"},
      {replaced(good, "3 atoms", "4 atoms"), "some.data:25: section Atoms has 3 lines, but the header says 4"},
      {replaced(good, "3 atoms", "2 atoms"), "some.data:23: more lines in section Atoms than the header says (2)"},
      {replaced(good, "3 atoms", "-3 atoms"), "some.data:3: the number of atoms is -3"},
      {replaced(good, "3 atoms", "three atoms"), "some.data:3: the header has no line '<number> atoms'"},
      {replaced(good, "1 atom types", "33 atom types"), "some.data:4: 33 atom types: there must be 1 to 32"},
      {replaced(good, "0 bonds", "5 bonds"), "some.data:5: '5 bonds' is not understood in the header"},
      {replaced(good, "0 bonds", "0.5 0 0 xy xz yz"), "some.data:5: the box is tilted"},
      {replaced(good, "0 4 zlo zhi\n", "\n"), "some.data:10: the header has no line '<lo> <hi> zlo zhi'"},
      {replaced(good, "0 4 zlo zhi", "4 4 zlo zhi"), "some.data:8: zlo must be less than zhi"},
      {replaced(good, "0 4 zlo zhi", "0 4 xlo xhi"), "some.data:8: the bounds of x are given twice"},
      {replaced(good, "1 2.5  #", "1 -2.5  #"), "some.data:12: the mass of type 1 must be positive"},
      {replaced(good, "Atoms # atomic", "Atoms # full"), "some.data:18: section Atoms is of style 'full'"},
      {replaced(good, "Atoms # atomic", "Bonds"), "some.data:18: unknown section 'Bonds'"},
      {good.substr(0, good.find("Atoms #")), "some.data:17: section Atoms is missing"},
      {replaced(good, "9 1 2 3\n", "9 1 2\n"), "some.data:27: section Velocities: a line must have id vx vy vz"},
      {replaced(good, "9 1 2 3\n", "8 1 2 3\n"), "some.data:27: there is no molecule 8"},
      {replaced(good, "9 1 2 3\n", "7 1 2 3\n"), "some.data:29: the velocity of molecule 7 is given twice"},
      {replaced(good, "9 1 2 3\n", "9 1 inf 3\n"), "some.data:27: vy is 'inf', which is not a finite number"},
      {replaced(good, "7 0 0 0\n", ""), "some.data:28: section Velocities has 2 lines, but the header says 3"},
      {good + "\nVelocities\n", "some.data:31: section Velocities is there twice"},
      {replaced(good, "Atoms # atomic", "Velocities"), "some.data:18: section Velocities comes before Atoms"},
      {"", "some.data:"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(error_of(text).substr(0, message.size()), message) << error_of(text);
  }
}

TEST(DataFile, ACutLastLineIsAWarning) {
  const auto warnings = [](const std::string& text) { return parse_data_file(text, "some.data").warnings; };
  EXPECT_TRUE(warnings(good).empty());
  EXPECT_TRUE(warnings(good + "   ").empty());
  EXPECT_TRUE(warnings(good + "# the end").empty());
  const std::string line = ": the last line of section ";
  EXPECT_EQ(
      warnings(good.substr(0, good.size() - 1)),
      (std::vector<std::string>{"some.data:29" + line + "Velocities has no end of line: was the file cut there?"}));
  const std::string atoms = good.substr(0, good.find("\n\nVelocities"));
  EXPECT_EQ(warnings(atoms),
            (std::vector<std::string>{"some.data:23" + line + "Atoms has no end of line: was the file cut there?"}));
}

TEST(DataFile, WhatCannotBeReadIsNamedWithTheReason) {
  const auto error = [](const char* path) {
    try {
      read_data_file(path);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error("/no/such/file.data"),
            "cannot read the data file /no/such/file.data: No such file or directory: is the path right?");
  EXPECT_EQ(error("/tmp"), "cannot read the data file /tmp: it is a folder: name a file in it");
  EXPECT_EQ(error("/dev/null"), "cannot read the data file /dev/null: it is a device: name a file");
  const auto empty = std::filesystem::temp_directory_path() / ("dsea_empty_" + std::to_string(::getpid()));
  std::ofstream(empty).close();
  EXPECT_EQ(error(empty.c_str()), "cannot read the data file " + empty.string() + ": it is empty");
  std::filesystem::remove(empty);
}

}  // namespace
}  // namespace dsea::lammps
