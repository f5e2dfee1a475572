// The program bin/heat: exit codes, messages, files.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dsea/base/text.hpp"

namespace fs = std::filesystem;

namespace {

struct Ended {
  int code = -1;
  std::string text;  // stdout and stderr
  std::string digest() const {
    const auto at = text.find("digest ");
    return at == std::string::npos ? "none" : text.substr(at, 7 + 16);
  }
};

class HeatApp : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / dsea::cat("dsea_heat_app_", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// With the shipped configuration, made small.
  Ended heat(const std::string& arguments, const std::string& before = "") const {
    return run(dsea::cat(before, " ", DSEA_BIN_DIR, "/heat ", DSEA_SOURCE_DIR,
                         "/apps/heat/heat.toml --set grid.nx=12 --set grid.ny=10 --set grid.nz=9 --set run.steps=20 "
                         "--device host --out ",
                         (folder_ / "out").string(), " ", arguments));
  }
  Ended run(const std::string& command) const {
    Ended ended;
    FILE* pipe = popen(dsea::cat("cd ", folder_.string(), " && ", command, " 2>&1").c_str(), "r");
    char buffer[4096];
    std::size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, pipe)) > 0) ended.text.append(buffer, n);
    const int status = pclose(pipe);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return ended;
  }

  fs::path folder_;
};

TEST_F(HeatApp, TheShippedConfigurationRunsAndTheDigestIsTheSameForAllRanks) {
  const Ended one = heat("--set ring.workers=1");
  EXPECT_EQ(one.code, 0) << one.text;
  EXPECT_NE(one.digest(), "none") << one.text;
  EXPECT_NE(one.text.find("step 20"), std::string::npos) << one.text;
  EXPECT_NE(one.text.find("hottest"), std::string::npos) << one.text;
  for (const char* arguments : {"--ranks 2", "--ranks 3 --set ring.workers=2", "--set ring.workers=9 --isa baseline"}) {
    const Ended other = heat(arguments);
    EXPECT_EQ(other.code, 0) << other.text;
    EXPECT_EQ(other.digest(), one.digest()) << arguments << "\n" << other.text;
  }
}

TEST_F(HeatApp, RunJsonSaysWhatRan) {
  const Ended ended = heat("--ranks 2 --set ring.workers=3 --set grid.ny=60 --set grid.nz=50");
  ASSERT_EQ(ended.code, 0) << ended.text;
  const auto json = nlohmann::json::parse(std::ifstream(folder_ / "out" / "run.json"));
  EXPECT_EQ("digest " + json.at("digest").get<std::string>(), ended.digest());
  EXPECT_EQ(json.at("step"), 20);
  EXPECT_EQ(json.at("elements"), 12 * 60 * 50);
  EXPECT_EQ(json.at("ranks"), 2);
  EXPECT_EQ(json.at("workers"), 3);
  EXPECT_NEAR(json.at("bytes_per_element").get<double>(), 8, 0.5);  // and headers
}

TEST_F(HeatApp, SnapshotsAreThereForEveryAskedStep) {
  const Ended ended = heat("--ranks 2 --set output.dump_every=10");
  ASSERT_EQ(ended.code, 0) << ended.text;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "out")) files += entry.path().extension() == ".vti";
  EXPECT_EQ(files, 3);
  for (const int step : {0, 10, 20}) {
    const fs::path file = folder_ / "out" / dsea::cat("heat.", step, ".vti");
    ASSERT_TRUE(fs::exists(file)) << file;
    EXPECT_GT(fs::file_size(file), 12U * 10 * 9 * 8);
  }
}

TEST_F(HeatApp, ThePlanNeedsNoRun) {
  const Ended ended = heat("--plan --ranks 2 --set grid.nx=100000 --set grid.ny=3000 --set grid.nz=3000");
  EXPECT_TRUE(ended.code == 0 || ended.code == 2) << ended.text;
  EXPECT_NE(ended.text.find("slot"), std::string::npos) << ended.text;
  EXPECT_FALSE(fs::exists(folder_ / "out" / "run.json"));
}

TEST_F(HeatApp, BadInputIsExitCode2AndNamesTheKey) {
  const std::pair<const char*, const char*> bad[] = {
      {"--set heat.dt=0.2", "unstable"},
      {"--set heat.dt=-1", "heat.dt"},
      {"--set heat.dt=\\\"fast\\\"", "heat.dt"},
      {"--set heat.diffusivity=0", "heat.diffusivity"},
      {"--set heat.difusivity=1", "diffusivity"},
      {"--set heat.start=sinus", "heat.start"},
      {"--set grid.nx=0", "grid.nx"},
      {"--set grid.ny=1.5", "grid.ny"},
      {"--set grid.nz=-3", "grid.nz"},
      {"--set grid.dx=0", "grid.dx"},
      {"--set boundary.x=mirror", "boundary.x"},
      {"--set boundary.z=periodc", "did you mean"},
      {"--set run.steps=-1", "run.steps"},
      {"--set output.profile_every=5", "this program makes no profiles"},
      {"--set ring.workers=0", "ring.workers"},
      {"--set heat.strat=wave", "did you mean 'heat.start'"},
      {"--set run.stepps=5", "did you mean 'run.steps'"},
      {"--ranks 0", "ranks"},
      {"--no-such-option", "no-such-option"},
  };
  for (const auto& [arguments, what] : bad) {
    const Ended ended = heat(arguments);
    EXPECT_EQ(ended.code, 2) << arguments << "\n" << ended.text;
    EXPECT_NE(ended.text.find(what), std::string::npos) << arguments << "\n" << ended.text;
    EXPECT_EQ(ended.digest(), "none");
  }
  const Ended other = run(dsea::cat(DSEA_BIN_DIR, "/heat ", DSEA_SOURCE_DIR, "/apps/ljmd/ljmd.toml"));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.text.find("is this file for another program?"), std::string::npos) << other.text;
  const Ended missing = run(dsea::cat(DSEA_BIN_DIR, "/heat nowhere.toml"));
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.text.find("nowhere.toml"), std::string::npos) << missing.text;
}

}  // namespace
