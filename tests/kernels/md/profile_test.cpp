// Profiles: the sums of steps, added up.
#include "kernels/md/profile.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsea/base/error.hpp"
#include "support/command.hpp"

namespace dsea::md {
namespace {

namespace fs = std::filesystem;

class Profile : public testing::Test {
 protected:
  void step(std::int64_t number, const std::vector<SnapshotMolecule>& molecules) const {
    const auto sink = open_profile_step(bins_, masses_, number, folder_.string());
    for (const auto& m : molecules) sink->add(m);
    sink->close();
  }
  static SnapshotMolecule molecule(int type, double y, std::array<double, 3> velocity, double potential = 0,
                                   double virial = 0) {
    SnapshotMolecule m;
    m.type = type;
    m.position = {100, y, -100};
    m.velocity = velocity;
    m.potential = potential;
    m.virial = virial;
    return m;
  }
  std::string csv() const {
    std::ifstream in(folder_ / "profile.csv");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  ProfileBins bins_{1, 3, -1, 5, 10};  // along y: [-1, 1), [1, 3), [3, 5]
  std::vector<double> masses_{1, 3};
  const support::TempFolder temporary_;
  const fs::path folder_{temporary_.path()};
};

TEST_F(Profile, IsWorkedOutByHand) {
  step(0, {molecule(1, -1, {2, 0, 0}, -1, 6), molecule(2, 0.9, {0, 0, 0}, -3, 9)});
  step(7, {molecule(1, 5, {0, 1, -1})});  // the far end is in the last bin
  write_profile(bins_, 0, 7, 7, folder_.string());
  // Bin 1: mass 4, mean velocity 0.5; m v'^2 = 4 - 4 x 0.25 = 3; T = 3 / 6; p = (3 + 15) / (3 x 10 x 2 steps).
  EXPECT_EQ(csv(),
            "y,samples,density,temperature,potential,pressure,vx,vy,vz\n"
            "0,2,0.1,0.5,-2,0.3,0.5,0,0\n"
            "2,0,0,0,0,0,0,0,0\n"
            "4,1,0.05,0,0,0,0,1,-1\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // the sums are gone
}

TEST_F(Profile, StepsThatAreNotAskedForAreLeftAlone) {
  step(3, {molecule(1, 0, {1, 1, 1})});
  step(4, {molecule(1, 4, {1, 1, 1})});
  write_profile(bins_, 4, 2, 5, folder_.string());
  EXPECT_NE(csv().find("\n0,0,0,"), std::string::npos) << csv();
  EXPECT_NE(csv().find("\n4,1,0.1,"), std::string::npos) << csv();
}

TEST_F(Profile, SumsAppearWhenTheyAreWholeOnly) {
  const auto sink = open_profile_step(bins_, masses_, 12, folder_.string());
  sink->add(molecule(1, 0, {1, 1, 1}));
  EXPECT_FALSE(fs::exists(folder_ / "profile.12.sums"));
  sink->close();
  EXPECT_TRUE(fs::exists(folder_ / "profile.12.sums"));
}

TEST_F(Profile, MissingSumsAreAnError) {
  step(0, {});
  for (const bool damaged : {false, true}) {
    if (damaged) std::ofstream(folder_ / "profile.5.sums") << "too short";
    try {
      write_profile(bins_, 0, 5, 5, folder_.string());
      FAIL() << "no error";
    } catch (const RunError& e) {
      EXPECT_NE(std::string(e.what()).find("profile.5.sums"), std::string::npos) << e.what();
    }
    EXPECT_FALSE(fs::exists(folder_ / "profile.csv"));
    EXPECT_TRUE(fs::exists(folder_ / "profile.0.sums"));
  }
}

}  // namespace
}  // namespace dsea::md
