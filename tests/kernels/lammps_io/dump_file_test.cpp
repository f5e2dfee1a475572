#include "kernels/lammps_io/dump_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "dsea/base/error.hpp"
#include "kernels/md/reference_dump.hpp"
#include "support/command.hpp"

namespace dsea::lammps {
namespace {

namespace fs = std::filesystem;

class DumpFileTest : public testing::Test {
 protected:
  std::string path() const { return (folder_ / dump_name(20)).string(); }
  static DumpHeader header(std::int64_t molecules) {
    return {20, molecules, {0, -1, 0.1}, {12, 1, 0.30000000000000004}, {true, false, true}};
  }

  const support::TempFolder temporary_;
  const fs::path folder_{temporary_.path()};
};

TEST_F(DumpFileTest, HoldsEveryBit) {
  const double odd = 0.1 + 0.2;
  const double small = std::numeric_limits<double>::denorm_min();
  {
    DumpFile file(path(), header(2));
    file.add({std::int64_t{1} << 50, 3, {odd, 1e300, -small}, {1, -2, 3e-5}, {4, 5, 1.0 / 3}, {0, -1, 32767}});
    file.add({7, 1, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}});
    EXPECT_FALSE(fs::exists(path()));  // not before it is whole
    file.close();
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  const md::test::ReferenceDump dump(path());
  EXPECT_EQ(dump.step, 20);
  EXPECT_EQ(dump.bounds, "pp ff pp");
  EXPECT_EQ(dump.columns, "id type x y z vx vy vz fx fy fz ix iy iz");
  const auto& m = dump.atoms.at(std::int64_t{1} << 50);
  EXPECT_EQ(m.at("type"), 3);
  EXPECT_EQ(m.at("x"), odd);
  EXPECT_EQ(m.at("y"), 1e300);
  EXPECT_EQ(m.at("vz"), 3e-5);
  EXPECT_EQ(m.at("fz"), 1.0 / 3);
  EXPECT_EQ(m.at("iy"), -1);
  EXPECT_EQ(m.at("iz"), 32767);
}

TEST_F(DumpFileTest, ForcesMayBeLeftOut) {
  DumpHeader plain = header(1);
  plain.forces = false;
  DumpFile file(path(), plain);
  file.add({7, 2, {1, 2, 3}, {4, 5, 6}, {100, 100, 100}, {7, 8, 9}});
  file.close();
  const md::test::ReferenceDump dump(path());
  EXPECT_EQ(dump.columns, "id type x y z vx vy vz ix iy iz");
  EXPECT_EQ(dump.atoms.at(7).at("vz"), 6);
  EXPECT_EQ(dump.atoms.at(7).at("ix"), 7);
}

TEST_F(DumpFileTest, WithoutCloseNothingIsLeft) {
  { DumpFile file(path(), header(2)); }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(DumpFileTest, WrongNumberIsAnError) {
  DumpFile file(path(), header(2));
  file.add({});
  EXPECT_THROW(file.close(), RunError);
}

TEST_F(DumpFileTest, NamesTheFileThatCannotBeWritten) {
  try {
    DumpFile file("/no/such/folder/dump.1.lammpstrj", header(1));
    FAIL();
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("/no/such/folder/dump.1.lammpstrj"), std::string::npos);
  }
}

}  // namespace
}  // namespace dsea::lammps
