#include "dsea/base/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <thread>

#include "base/error_text.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea {
namespace {

using Strings = std::vector<std::string>;
using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

const char* const text = R"(
name = "top"
[run]
steps = 1000
seed = 9007199254740993
verbose = true
[lj]
cutoff = 2.5
sigma = 1           # an integer literal where a number is expected
pair.epsilon = -0.0
[lj.shift]
kinds = ["a", "b"]
[system]
cells = [20, 20, 30]
box = [1, 2.5, 3e2]
empty = []
[nothing]
)";

TEST(Config, ReadsEveryType) {
  const Config config = Config::from_text(text);
  EXPECT_EQ(config.require<std::string>("name"), "top");
  EXPECT_EQ(config.require<int>("run.steps"), 1000);
  EXPECT_EQ(config.require<std::int64_t>("run.seed"), 9007199254740993);
  EXPECT_TRUE(config.require<bool>("run.verbose"));
  EXPECT_EQ(config.require<double>("lj.cutoff"), 2.5);
  EXPECT_EQ(config.require<double>("lj.sigma"), 1.0);
  EXPECT_TRUE(std::signbit(config.require<double>("lj.pair.epsilon")));
  EXPECT_EQ(config.require<Strings>("lj.shift.kinds"), (Strings{"a", "b"}));
  EXPECT_EQ(config.require<Integers>("system.cells"), (Integers{20, 20, 30}));
  EXPECT_EQ(config.require<Numbers>("system.cells"), (Numbers{20, 20, 30}));
  EXPECT_EQ(config.require<Numbers>("system.box"), (Numbers{1, 2.5, 300}));
  EXPECT_TRUE(config.require<Strings>("system.empty").empty());
}

TEST(Config, GivesTheDefaultOfAnAbsentKey) {
  const Config config = Config::from_text(text);
  EXPECT_EQ(config.get<int>("run.steps", 5), 1000);
  EXPECT_EQ(config.get<int>("run.threads", 5), 5);
  EXPECT_EQ(config.get<double>("time.dt", 1, positive), 1.0);
  EXPECT_EQ(config.get<std::string>("run.out", "out"), "out");
  EXPECT_EQ(config.get<Numbers>("time.points", {1, 2}, positive), (Numbers{1, 2}));
  EXPECT_EQ(config.find<double>("time.end"), std::nullopt);
  EXPECT_EQ(config.find<double>("lj.cutoff", positive), 2.5);
}

TEST(Config, HasKeysAndSections) {
  const Config config = Config::from_text(text);
  EXPECT_TRUE(config.has("lj.cutoff"));
  EXPECT_TRUE(config.has("lj.pair"));
  EXPECT_TRUE(config.has("nothing"));
  EXPECT_FALSE(config.has("lj.cut"));
  EXPECT_FALSE(config.has("something"));
}

TEST(Config, ReadsChoicesAndCounts) {
  const Config config = Config::from_text("[e]\nkind = 'nve'\n[ring]\nworkers = 3\nslots = 'auto'\n");
  EXPECT_EQ(config.choice("e.kind", "langevin", {"langevin", "nve"}), "nve");
  EXPECT_EQ(config.choice("e.other", "langevin", {"langevin", "nve"}), "langevin");
  EXPECT_EQ(config.choice("e.third", "b", Strings{"a", "b"}), "b");
  EXPECT_EQ(config.count_or_auto("ring.workers"), 3);
  EXPECT_EQ(config.count_or_auto("ring.slots"), std::nullopt);
  EXPECT_EQ(config.count_or_auto("ring.ranks"), std::nullopt);
}

TEST(Config, AppliesSetsInOrder) {
  const Strings sets = {"lj.cutoff=3.5",         "lj.cutoff = 4 ",         "run.out=/tmp/a b#c.d", "run.flag=true",
                        "new.section.key=[1,2]", "run.name=\"two words\"", "run.date=2024-01-31",  "run.code=007",
                        "run.equation=a=b",      "run.number=2024",        "ring.workers=auto"};
  const Config config = Config::from_text(text, "run.toml", sets);
  EXPECT_EQ(config.require<double>("lj.cutoff"), 4.0);
  EXPECT_EQ(config.require<std::string>("run.out"), "/tmp/a b#c.d");
  EXPECT_TRUE(config.require<bool>("run.flag"));
  EXPECT_EQ(config.require<Integers>("new.section.key"), (Integers{1, 2}));
  EXPECT_EQ(config.require<std::string>("run.name"), "two words");
  EXPECT_EQ(config.require<std::string>("run.date"), "2024-01-31");
  EXPECT_EQ(config.require<std::string>("run.code"), "007");
  EXPECT_EQ(config.require<std::string>("run.equation"), "a=b");
  EXPECT_EQ(config.require<std::string>("run.number"), "2024");
  EXPECT_EQ(config.count_or_auto("ring.workers"), std::nullopt);
  EXPECT_EQ(config.where("lj.cutoff"), "--set lj.cutoff = 4 ");
}

TEST(Config, ReadsFiles) {
  const auto path = std::filesystem::temp_directory_path() / cat("dsea_config_test_", ::getpid(), ".toml");
  std::ofstream(path) << "[run]\nsteps = 7\n";
  const Config config = Config::from_file(path.string(), Strings{"run.seed=2"});
  std::filesystem::remove(path);
  EXPECT_EQ(config.name(), path.string());
  EXPECT_EQ(config.require<int>("run.steps"), 7);
  EXPECT_EQ(config.require<int>("run.seed"), 2);
  EXPECT_EQ(config.where("run.steps"), path.string() + ":2");
}

TEST(Config, SaysWhereAValueComesFrom) {
  const Config config = Config::from_text("[a]\n\nx = 1\n", "dir/run.toml", Strings{"a.y=2"});
  EXPECT_EQ(config.where("a.x"), "dir/run.toml:3");
  EXPECT_EQ(config.where("a"), "dir/run.toml:1");
  EXPECT_EQ(config.where("a.y"), "--set a.y=2");
  EXPECT_EQ(config.where("a.z"), "dir/run.toml (not set)");
}

TEST(Config, CopiesShareTheRecord) {
  const Config config = Config::from_text("x = 1\n");
  const Config copy = config;
  EXPECT_EQ(copy.get<int>("x", 0), 1);
  EXPECT_NO_THROW(config.check_all_used());
}

TEST(ConfigEffective, IsGroupedBySection) {
  const Config config = Config::from_text("[lj]\ncutoff = 2.5\n[run]\nsteps = 10\n", "t", Strings{"run.out=here"});
  config.require<double>("lj.cutoff");
  config.get<double>("lj.sigma", 1.0);
  config.find<double>("lj.width");
  config.require<int>("run.steps");
  config.require<std::string>("run.out");
  config.get<std::string>("name", "x");
  config.get<Integers>("lj.pair.ids", {1, 2});
  config.count_or_auto("ring.workers");
  EXPECT_EQ(config.effective_toml(),
            "name = \"x\"  # default\n\n"
            "[lj]\ncutoff = 2.5\nsigma = 1.0  # default\n# width is not set\n\n"
            "[lj.pair]\nids = [1, 2]  # default\n\n"
            "[ring]\nworkers = \"auto\"  # default\n\n"
            "[run]\nout = \"here\"\nsteps = 10\n");
}

TEST(ConfigEffective, NamesFilesSoThatTheyAreFoundFromAnywhere) {
  const Config config =
      Config::from_text("data = \"../start.data\"\nother = \"/tmp/x\"\nempty = \"\"\n", "/a/b/run.toml");
  EXPECT_TRUE(config.has("data"));
  EXPECT_EQ(config.find_file("data"), "/a/b/../start.data");
  EXPECT_TRUE(config.has("data"));  // and this does not bring the text of the file back
  EXPECT_EQ(config.find_file("other"), "/tmp/x");
  EXPECT_EQ(config.find_file("none"), std::nullopt);
  EXPECT_EQ(test::error_text<UsageError>([&] { config.find_file("empty"); }),
            "/a/b/run.toml:3: key 'empty': is empty: name a file");
  EXPECT_EQ(config.effective_toml().substr(0, 23), "data = \"/a/start.data\"\n");
  EXPECT_TRUE(config.in_file("empty"));
  EXPECT_FALSE(config.in_file("none"));
}

TEST(ConfigEffective, GivesTheSameValuesAgain) {
  std::mt19937_64 random(1);
  const Config first = Config::from_text("[in]\ntext = \"tab\\t\"\n", "t", Strings{"in.year=2024", "in.word=a\\b\"c"});
  std::vector<double> numbers = {0.0,
                                 -0.0,
                                 0.1,
                                 1e300,
                                 -1e-300,
                                 5e-324,
                                 123456789.0,
                                 1e21,
                                 1e17,
                                 std::numeric_limits<double>::max(),
                                 std::numeric_limits<double>::denorm_min()};
  while (numbers.size() < 3000) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) numbers.push_back(value);
  }
  std::string bytes;  // all that need or do not need an escape, and UTF-8
  for (char c = 1; c < 127; ++c) bytes += c;
  bytes += "\x7f \xc3\xa9\xe2\x82\xac";
  const Integers integers = {0, -1, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  const Strings strings = {"", "a\"b", bytes};

  const auto ask = [&](const Config& config, bool is_first) {
    EXPECT_EQ(config.require<std::string>("in.year"), "2024");
    EXPECT_EQ(config.require<std::string>("in.word"), "a\\b\"c");
    EXPECT_EQ(config.require<std::string>("in.text"), "tab\t");
    const auto same = [&](const auto& value, const auto& expected) { EXPECT_EQ(value, expected); };
    same(config.get<std::string>("s.bytes", is_first ? bytes : ""), bytes);
    same(config.get<Strings>("s.list", is_first ? strings : Strings{}), strings);
    same(config.get<Integers>("i.list", is_first ? integers : Integers{}), integers);
    same(config.get<std::int64_t>("i.least", is_first ? integers[2] : 0), integers[2]);
    same(config.get<bool>("b.flag", is_first), true);
    const auto read = config.get<Numbers>("d.list", is_first ? numbers : Numbers{});
    ASSERT_EQ(read.size(), numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(read[i]), std::bit_cast<std::uint64_t>(numbers[i])) << numbers[i];
    }
  };
  ask(first, true);
  const Config second = Config::from_text(first.effective_toml(), "effective.toml");
  ask(second, false);
  EXPECT_NO_THROW(second.check_all_used());
}

TEST(ConfigEffective, SuitsEveryTypeAKeyWasReadAs) {
  const Config first = Config::from_text("x = 3\n");
  EXPECT_EQ(first.require<double>("x"), 3.0);
  const Config second = Config::from_text(first.effective_toml());
  EXPECT_EQ(second.require<int>("x"), 3);
}

TEST(ConfigThreads, ManyMayAskAtOnce) {
  const Config config = Config::from_text("x = 1\ny = 2.5\n");
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&config, t] {
        for (int i = 0; i < 100; ++i) {
          EXPECT_EQ(config.get<int>("x", 0), 1);
          EXPECT_EQ(config.get<int>(cat("own.key", t, "_", i % 10), i % 10), i % 10);
          EXPECT_FALSE(config.effective_toml().empty());
          EXPECT_FALSE(config.has("absent"));
        }
      });
    }
  }
  EXPECT_EQ(config.get<double>("y", 0), 2.5);
  EXPECT_NO_THROW(config.check_all_used());
}

TEST(NumberRange, ContainsAndSays) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(positive.contains(0));
  EXPECT_TRUE(positive.contains(5e-324));
  EXPECT_TRUE(not_negative.contains(0));
  EXPECT_FALSE(not_negative.contains(-1e-9));
  EXPECT_TRUE(between(1, 2).contains(1) && between(1, 2).contains(2));
  EXPECT_FALSE(between(1, 2).contains(2.001) || between(1, 2).contains(0.999));
  EXPECT_FALSE(below(2).contains(2));
  EXPECT_TRUE(at_most(2).contains(2));
  EXPECT_FALSE(above(2).contains(2));
  EXPECT_TRUE(at_least(2).contains(2));
  EXPECT_TRUE(any_number.contains(-1e308));
  for (const double bad : {inf, -inf, nan}) EXPECT_FALSE(any_number.contains(bad) || at_least(0).contains(bad));
  EXPECT_EQ(positive.text(), "positive");
  EXPECT_EQ(not_negative.text(), "zero or positive");
  EXPECT_EQ(at_least(3).text(), "at least 3");
  EXPECT_EQ(above(0.1).text(), "above 0.1");
  EXPECT_EQ(at_most(3).text(), "at most 3");
  EXPECT_EQ(below(3).text(), "below 3");
  EXPECT_EQ(between(0.5, 1).text(), "between 0.5 and 1");
  EXPECT_EQ((NumberRange{0, 1, true, false}.text()), "between 0 (excluded) and 1");
  EXPECT_EQ(any_number.text(), "finite");
}

}  // namespace
}  // namespace dsea
