// The bytes of a snapshot: header, order of the planes, temporary name.
#include "kernels/heat/vti_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <sstream>

namespace fs = std::filesystem;

namespace {

class VtiWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / dsea::cat("dsea_vti_", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "T.vti").string(); }

  void write_plane(heat::VtiWriter& writer, int slab) {
    std::vector<double> T;
    for (int i = 0; i < 6; ++i) T.push_back(100 * slab + i);
    std::int64_t count = 6;
    const dsea::RawField field{T.data(), &count, count};
    writer.slab(slab, dsea::SlabIn(&layout_, &field));
  }

  dsea::SliceLayout layout_;
  dsea::Field<double> T_ = layout_.grid<double>("T", 6);
  fs::path folder_;
};

TEST_F(VtiWriterTest, PlanesOfAFoldedAxisComeToTheirPlaces) {
  {
    heat::VtiWriter writer(path(), T_, 3, 2, 3, 0.5, 1.25);
    for (int slab : {0, 2, 1}) write_plane(writer, slab);
    EXPECT_FALSE(fs::exists(path()));
    writer.close();
  }
  EXPECT_TRUE(fs::exists(path()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  std::ifstream file(path(), std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  EXPECT_NE(text.find("WholeExtent=\"0 2 0 3 0 3\""), std::string::npos) << text.substr(0, 400);
  EXPECT_NE(text.find("Spacing=\"0.5 0.5 0.5\""), std::string::npos);
  EXPECT_NE(text.find(">1.25<"), std::string::npos);
  const std::size_t at = text.find("\n_") + 2;
  std::uint64_t bytes;
  std::memcpy(&bytes, text.data() + at, 8);
  ASSERT_EQ(bytes, 18 * 8U);
  for (int i = 0; i < 18; ++i) {
    double T;
    std::memcpy(&T, text.data() + at + 8 + 8 * i, 8);
    EXPECT_EQ(T, 100 * (i / 6) + i % 6);
  }
  EXPECT_EQ(text.substr(at + 8 + bytes), "\n</AppendedData>\n</VTKFile>\n");
}

TEST_F(VtiWriterTest, AFailedRunLeavesNoFile) {
  {
    heat::VtiWriter writer(path(), T_, 3, 2, 3, 0.5, 1.25);
    write_plane(writer, 0);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(VtiWriterTest, AFolderThatIsMissingIsAnErrorWithItsName) {
  const std::string nowhere = (folder_ / "nowhere" / "T.vti").string();
  try {
    heat::VtiWriter writer(nowhere, T_, 3, 2, 3, 0.5, 1.25);
    FAIL();
  } catch (const dsea::RunError& e) {
    EXPECT_NE(std::string(e.what()).find(nowhere), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("No such file"), std::string::npos) << e.what();
  }
}

}  // namespace
