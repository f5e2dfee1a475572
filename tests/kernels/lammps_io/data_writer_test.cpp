#include "kernels/lammps_io/data_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsea/base/error.hpp"
#include "support/command.hpp"

namespace dsea::lammps {
namespace {

namespace fs = std::filesystem;

class DataWriterTest : public testing::Test {
 protected:
  std::string path() const { return (folder_ / "end.data").string(); }
  static DataHeader header(std::int64_t molecules) {
    return {"a title", molecules, {0, -1, 0.1}, {12, 1, 0.30000000000000004}, {1, 1.0 / 3}};
  }

  const support::TempFolder temporary_;
  const fs::path folder_{temporary_.path()};
};

TEST_F(DataWriterTest, WritesAllSections) {
  DataWriter file(path(), header(2));
  file.add({4, 2, {0.5, 0.25, 0.125}, {1, -2, 3e-5}, {0, -1, 2}});
  file.add({1, 1, {12, 0, 0.2}, {0, 0, 0}, {0, 0, 0}});
  EXPECT_FALSE(fs::exists(path()));  // not before it is whole
  file.close();
  std::ifstream in(path());
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(),
            "a title\n\n2 atoms\n2 atom types\n\n0 12 xlo xhi\n-1 1 ylo yhi\n0.1 0.30000000000000004 zlo zhi\n\n"
            "Masses\n\n1 1\n2 0.3333333333333333\n\n"
            "Atoms # atomic\n\n4 2 0.5 0.25 0.125 0 -1 2\n1 1 12 0 0.2 0 0 0\n\n"
            "Velocities\n\n4 1 -2 3e-05\n1 0 0 0\n");
}

TEST_F(DataWriterTest, ReaderGetsEveryBitBack) {
  constexpr int n = 40000;  // more than a buffer holds
  {
    DataWriter file(path(), header(n));
    for (int i = n; i > 0; --i) {
      const double x = 1.0 / i;
      file.add({i, 1 + i % 2, {12 * x, x, 0.1 + 0.2 * x}, {x, -x / 3, 7 * x}, {i % 5, -(i % 3), 0}});
    }
    file.close();
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  const DataFile file = read_data_file(path());
  ASSERT_EQ(file.molecules.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(file.masses, (std::vector<double>{1, 1.0 / 3}));
  EXPECT_EQ(file.hi, header(0).hi);
  EXPECT_TRUE(file.has_velocities);
  for (int i = 1; i <= n; ++i) {
    const double x = 1.0 / i;
    const DataMolecule& m = file.molecules[static_cast<std::size_t>(i - 1)];
    ASSERT_EQ(m.type, 1 + i % 2);
    ASSERT_EQ(m.position, (std::array<double, 3>{12 * x, x, 0.1 + 0.2 * x}));
    ASSERT_EQ(m.velocity, (std::array<double, 3>{x, -x / 3, 7 * x}));
    ASSERT_EQ(m.image, (std::array<int, 3>{i % 5, -(i % 3), 0}));
  }
}

TEST_F(DataWriterTest, NoMoleculesNeedNoSections) {
  DataWriter(path(), header(0)).close();
  EXPECT_TRUE(read_data_file(path()).molecules.empty());
}

TEST_F(DataWriterTest, WithoutCloseNothingIsLeft) {
  { DataWriter file(path(), header(2)); }
  EXPECT_TRUE(fs::is_empty(folder_));
  DataWriter file(path(), header(2));
  file.add({});
  EXPECT_THROW(file.close(), RunError);
}

}  // namespace
}  // namespace dsea::lammps
