// What a run of several processes says and checks before the ring starts.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "dsea/base/text.hpp"
#include "dsea/comm/ucx_transport.hpp"
#include "support/command.hpp"

namespace {

using support::Finished;

class MpiStart : public testing::Test {
 protected:
  std::string program(const std::string& name, const std::string& more) const {
    return dsea::cat(DSEA_BIN_DIR, "/", name, " ", DSEA_SOURCE_DIR, "/apps/", name, "/", name,
                     ".toml --device host --out ", folder_ / "out", " ", more);
  }
  std::string heat(const std::string& more = "") const {
    return program("heat", "--set grid.nx=16 --set grid.ny=16 --set grid.nz=8 --set run.steps=8 " + more);
  }
  static Finished start(const std::string& ranks_and_program, const std::string& environment = "") {
    return support::run_command(dsea::cat(environment, " ", DSEA_MPIEXEC, " --oversubscribe -n ", ranks_and_program),
                                60);
  }
  std::string out(const std::string& name) const { return support::read_file(folder_ / ("out/" + name)); }

  support::TempFolder folder_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The words of the line that begins so, behind "[rank 0] info: ".
std::vector<std::string> words_of_line(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find("info: ");
    if (colon != std::string::npos) line.erase(0, colon + 6);
    if (!line.starts_with(begin)) continue;
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST_F(MpiStart, TheTableHasARowForEachRank) {
  const Finished f = start("3 " + heat("--transport mpi --threads 1"));
  ASSERT_EQ(f.exit_code, 0) << f.err;
  for (const std::string& text : {f.err, out("ranks.txt")}) {
    EXPECT_EQ(words_of_line(text, "rank  host").size(), 11U) << text;
    for (const char* rank : {"0 ", "1 ", "2 "}) {
      const auto words = words_of_line(text, rank);
      ASSERT_GE(words.size(), 11U) << text;
      EXPECT_EQ(words[2], "host,") << text;
      EXPECT_TRUE(std::find(words.begin(), words.end(), "mpi") != words.end()) << text;
      EXPECT_TRUE(words.back() == "B/s" || words.back().ends_with("B/s")) << text;
    }
    EXPECT_TRUE(words_of_line(text, "3 ").empty()) << text;
  }
  EXPECT_EQ(count(f.err, "slowest link: "), 1) << f.err;
  EXPECT_TRUE(contains(f.err, "; the plan assumes 10.0 GB/s")) << f.err;
  EXPECT_EQ(count(f.err, "transport mpi: "), 1) << f.err;
}

TEST_F(MpiStart, OneProcessHasNoTable) {
  ASSERT_EQ(start("2 " + heat()).exit_code, 0);
  EXPECT_FALSE(out("ranks.txt").empty());
  const Finished f = support::run_command(heat("--ranks 2"));
  ASSERT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(count(f.err, "transport local"), 1) << f.err;
  EXPECT_FALSE(contains(f.err, "network cards")) << f.err;
  EXPECT_TRUE(out("ranks.txt").empty()) << "that of an earlier run is left";
}

TEST_F(MpiStart, AutoSaysInOneLineWhatItTakesAndWhy) {
  const Finished f = start("3 " + heat());
  ASSERT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(count(f.err, "info: transport "), 1) << f.err;
  if (dsea::ucx_available()) {
    EXPECT_EQ(count(f.err, "/s to the next rank at the slowest link, "), 1) << f.err;
  } else {
    EXPECT_TRUE(contains(f.err, "transport mpi: ucx is not in this build; ")) << f.err;
  }
  const bool ucx = contains(f.err, "transport ucx: ");
  EXPECT_TRUE(contains(out("run.json"), ucx ? "\"ucx\"" : "\"mpi\"")) << out("run.json");
}

TEST_F(MpiStart, AutoGoesOnWithMpiWhereUcxFails) {
  if (!dsea::ucx_available()) GTEST_SKIP() << "built without UCX";
  // On all ranks, on one, and on one when connections are made.
  for (const auto& [first, others] : {std::pair{"nosuch", "nosuch"}, {"nosuch", "^cma"}, {"posix,self", "tcp,self"}}) {
    const Finished f =
        start(dsea::cat("1 env UCX_TLS=", first, " ", heat(), " : -n 2 env UCX_TLS=", others, " ", heat()),
              "OMPI_MCA_pml=ob1");
    EXPECT_EQ(f.exit_code, 0) << f.err;
    EXPECT_EQ(count(f.err, "transport mpi: ucx failed: "), 1) << f.err;
  }
}

TEST_F(MpiStart, AutoMeasuresUcxOverRails) {
  const std::string rails = heat(R"(--set "ring.rails=[\"lo\"]")");
  const Finished f = start("2 " + rails);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(count(f.err, "info: transport "), 1) << f.err;
  EXPECT_FALSE(contains(f.err, "ring.rails is for transport ucx")) << "said twice: " << f.err;
  const bool ucx = contains(f.err, "transport ucx: ");
  EXPECT_EQ(count(f.err, ", so ring.rails is not used; mpi: "), ucx ? 0 : 1) << f.err;
  EXPECT_EQ(contains(f.err, "lo unknown (rail)"), ucx) << f.err;
  if (!dsea::ucx_available()) return;
  EXPECT_EQ(count(f.err, "/s to the next rank at the slowest link, "), 1) << f.err;

  const Finished unable = start("1 env UCX_TLS=nosuch " + rails + " : -n 1 " + rails);
  EXPECT_EQ(unable.exit_code, 0) << unable.err;
  EXPECT_EQ(count(unable.err, "transport mpi: ucx failed: rail lo: "), 1) << unable.err;
  EXPECT_EQ(count(unable.err, ", so ring.rails is not used; mpi: "), 1) << unable.err;

  EXPECT_EQ(start("2 " + rails + " --plan").exit_code, 0);
}

TEST_F(MpiStart, ARailThatIsNotThereIsAMistakeForAutoToo) {
  if (!dsea::ucx_available()) GTEST_SKIP() << "built without UCX";
  const Finished missing = start("2 " + heat(R"(--set "ring.rails=[\"nosuch0\"]")"));
  EXPECT_EQ(missing.exit_code, 2) << missing.err;
  EXPECT_EQ(count(missing.err, "heat: error: "), 1) << missing.err;
  EXPECT_TRUE(contains(missing.err, "there is no network device 'nosuch0'")) << missing.err;
}

TEST_F(MpiStart, RanksThatDifferAreRefusedWithWhatDiffers) {
  const auto expect_refused = [&](const std::string& others, const std::string& text) {
    const Finished f = start(dsea::cat("1 ", heat(), " : -n 2 ", others));
    EXPECT_EQ(f.exit_code, 2) << f.err;
    EXPECT_TRUE(contains(f.err, text)) << f.err;
    EXPECT_EQ(count(f.err, ": error: rank 1 on "), 1) << f.err;
    EXPECT_TRUE(out("config.toml").empty()) << "begun all the same";
  };
  expect_refused(program("ljmd", "--set run.steps=8"), ", like 1 other, is the program ljmd; rank 0 on ");
  expect_refused(heat("--transport mpi"), " was started with --transport mpi; rank 0 on ");
  expect_refused(heat("--set run.seed=5"), " has the configuration [run] seed = 5; rank 0 on ");
  expect_refused(heat("--set heat.dt=0.1"), " has the configuration [heat] dt = 0.1; rank 0 on ");
}

}  // namespace
