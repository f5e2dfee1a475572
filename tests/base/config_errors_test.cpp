// Every error of a configuration has its test here: the message is part of the interface.
#include <gtest/gtest.h>

#include <sstream>

#include "base/error_text.hpp"
#include "dsea/base/config.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/log.hpp"

namespace dsea {
namespace {

using Strings = std::vector<std::string>;
using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

template <class F>
std::string usage_text(F&& run) {
  return test::error_text<UsageError>(run);
}

/// The message when `ask` reads from `text`, which is called run.toml.
template <class F>
std::string ask_text(const char* text, F&& ask) {
  const Config config = Config::from_text(text, "run.toml");
  return usage_text([&] { ask(config); });
}

std::string set_text(const char* set, const char* text = "[lj]\ncutoff = 1\n") {
  return usage_text([&] { Config::from_text(text, "run.toml", Strings{set}); });
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

TEST(ConfigErrors, FileThatCannotBeRead) {
  EXPECT_EQ(usage_text([] { Config::from_file("/no/such/run.toml"); }),
            "cannot read the configuration file '/no/such/run.toml': No such file or directory");
  EXPECT_EQ(usage_text([] { Config::from_file("/tmp"); }), "cannot read the configuration file '/tmp': Is a directory");
}

TEST(ConfigErrors, SyntaxNamesLineAndColumn) {
  const auto parse_text = [](const char* text) { return usage_text([&] { Config::from_text(text, "run.toml"); }); };
  const std::string message = parse_text("[run]\nsteps = 10\nout = x\n");
  EXPECT_TRUE(starts_with(message, "run.toml:3:")) << message;
  EXPECT_TRUE(starts_with(parse_text("a = 1\na = 2\n"), "run.toml:2:")) << parse_text("a = 1\na = 2\n");
  EXPECT_TRUE(starts_with(parse_text("[run\n"), "run.toml:1:"));
  EXPECT_TRUE(starts_with(parse_text("x = 99999999999999999999\n"), "run.toml:1:"));
  EXPECT_EQ(parse_text("\n\"a b\" = 1\n"), "run.toml:2: key 'a b': keys consist of letters, digits, '_' and '-'");
  EXPECT_EQ(parse_text("\"a.b\" = 1\n"), "run.toml:1: key 'a.b': keys consist of letters, digits, '_' and '-'");
}

TEST(ConfigErrors, Sets) {
  EXPECT_EQ(set_text("lj.cutoff"), "--set lj.cutoff: expected key=value, such as --set run.steps=100");
  EXPECT_EQ(set_text("=3"), "--set =3: '' is not a key: expected section.key=value, such as run.steps=100");
  EXPECT_EQ(set_text("a..b=3"), "--set a..b=3: 'a..b' is not a key: expected section.key=value, such as run.steps=100");
  EXPECT_EQ(set_text("a b=3"), "--set a b=3: 'a b' is not a key: expected section.key=value, such as run.steps=100");
  EXPECT_EQ(set_text("a= "), "--set a= : there is no value; an empty string is written a=\"\"");
  EXPECT_EQ(set_text("lj=3"), "--set lj=3: 'lj' is a section: set one of its keys");
  EXPECT_EQ(set_text("lj.cutoff.x=3"),
            "--set lj.cutoff.x=3: 'lj.cutoff' is not a section: run.toml:2 gives it a value");
  EXPECT_EQ(set_text("a={b=1}"), "--set a={b=1}: a section cannot be set as a whole: set its keys one by one");
  EXPECT_TRUE(starts_with(set_text("a=\"open"), "--set a=\"open: not a TOML value: "));
  EXPECT_TRUE(starts_with(set_text("a=[1, 2"), "--set a=[1, 2: not a TOML value: "));
  EXPECT_EQ(set_text("a=[1]\nb = 2"), "--set a=[1]\nb = 2: not a single TOML value");
  EXPECT_EQ(ask_text("",
                     [](const Config&) {
                       Config::from_text("", "run.toml", Strings{"lj.cutoff=2,5"}).require<double>("lj.cutoff");
                     }),
            "--set lj.cutoff=2,5: key 'lj.cutoff': expected a number, found the string \"2,5\"");
}

TEST(ConfigErrors, ASetNumberThatIsTooLargeIsCalledThat) {
  const auto ask = [](const char* set) {
    return usage_text([&] { Config::from_text("", "run.toml", Strings{set}).require<std::int64_t>("run.steps"); });
  };
  EXPECT_EQ(ask("run.steps=99999999999999999999"),
            "--set run.steps=99999999999999999999: key 'run.steps': expected an integer, found the number "
            "99999999999999999999, which does not fit in 64 bits");
  EXPECT_NE(ask("run.steps=-9_999_999_999_999_999_999").find("does not fit in 64 bits"), std::string::npos);
  EXPECT_EQ(ask("run.steps=9223372036854775807"), "<no exception>");
  EXPECT_NE(ask("run.steps=007").find("found the string \"007\""), std::string::npos);
  const std::vector<std::string> sets{"run.out=99999999999999999999"};
  EXPECT_EQ(Config::from_text("", "run.toml", sets).require<std::string>("run.out"), "99999999999999999999");
}

TEST(ConfigErrors, WrongTypes) {
  const char* text =
      "[a]\nyes = true\nnumber = 1.5\ncount = 3\nword = \"w\"\nlist = [1, \"x\"]\nday = 2024-01-31\ntables = [{x = "
      "1}]\n";
  const auto ask = [&](auto type, const char* key) {
    return ask_text(text, [&](const Config& config) { config.require<decltype(type)>(key); });
  };
  EXPECT_EQ(ask(1.0, "a.word"), "run.toml:5: key 'a.word': expected a number, found the string \"w\"");
  EXPECT_EQ(ask(1, "a.number"), "run.toml:3: key 'a.number': expected an integer, found the number 1.5");
  EXPECT_EQ(ask(std::int64_t{1}, "a.yes"), "run.toml:2: key 'a.yes': expected an integer, found the boolean true");
  EXPECT_EQ(ask(true, "a.count"), "run.toml:4: key 'a.count': expected true or false, found the integer 3");
  EXPECT_EQ(ask(std::string(), "a.count"),
            "run.toml:4: key 'a.count': expected a string in quotes, found the integer 3");
  EXPECT_EQ(ask(1.0, "a.day"), "run.toml:7: key 'a.day': expected a number, found a date or time");
  EXPECT_EQ(ask(1.0, "a"), "run.toml:1: key 'a': expected a number, found a section");
  EXPECT_EQ(ask(Numbers(), "a.list"),
            "run.toml:6: key 'a.list': expected a list of numbers, found the list [1, \"x\"]");
  EXPECT_EQ(ask(Integers(), "a.number"),
            "run.toml:3: key 'a.number': expected a list of integers, found the number 1.5");
  EXPECT_EQ(ask(Strings(), "a.list"),
            "run.toml:6: key 'a.list': expected a list of strings, found the list [1, \"x\"]");
  EXPECT_EQ(ask(1, "a.count.x"), "run.toml:4: key 'a.count': must be a section, with the key 'a.count.x' in it");
  EXPECT_EQ(ask(Numbers(), "a.tables"),
            "run.toml:8: key 'a.tables': expected a list of numbers, found the list [a section]");
}

TEST(ConfigErrors, IntegerOverflow) {
  const auto ask = [](const char* text) {
    return ask_text(text, [](const Config& config) { config.get<int>("n", 0); });
  };
  EXPECT_EQ(ask("n = 2147483648\n"),
            "run.toml:1: key 'n': the integer 2147483648 is too large here: the limit is 2147483647 either way");
  EXPECT_NE(ask("n = -2147483649\n"), "<no exception>");
  EXPECT_EQ(ask("n = 2147483647\n"), "<no exception>");
  EXPECT_EQ(ask("n = -2147483648\n"), "<no exception>");
}

TEST(ConfigErrors, OutOfRange) {
  const auto ask = [](const char* text, NumberRange range) {
    return ask_text(text, [&](const Config& config) { config.get<double>("x", 1.0, range); });
  };
  EXPECT_EQ(ask("x = 0\n", positive), "run.toml:1: key 'x': must be positive, found 0.0");
  EXPECT_EQ(ask("x = -1.5\n", not_negative), "run.toml:1: key 'x': must be zero or positive, found -1.5");
  EXPECT_EQ(ask("x = 3\n", between(0.5, 2)), "run.toml:1: key 'x': must be between 0.5 and 2, found 3.0");
  EXPECT_EQ(ask("x = nan\n", any_number), "run.toml:1: key 'x': must be finite, found nan");
  EXPECT_EQ(ask("x = inf\n", positive), "run.toml:1: key 'x': must be positive, found inf");
  EXPECT_EQ(ask_text("x = -inf\n", [](const Config& config) { config.require<double>("x"); }),
            "run.toml:1: key 'x': must be finite, found -inf");
  EXPECT_EQ(ask_text("x = 2\n", [](const Config& config) { config.require<int>("x", at_least(3)); }),
            "run.toml:1: key 'x': must be at least 3, found 2");
  EXPECT_EQ(ask_text("x = 2\n", [](const Config& config) { config.find<std::int64_t>("x", below(2)); }),
            "run.toml:1: key 'x': must be below 2, found 2");
  EXPECT_EQ(ask_text("x = [1, 0]\n", [](const Config& config) { config.require<Integers>("x", positive); }),
            "run.toml:1: key 'x': element 2 of the list must be positive, found 0");
  EXPECT_EQ(ask_text("x = [nan]\n", [](const Config& config) { config.require<Numbers>("x"); }),
            "run.toml:1: key 'x': must be finite, found nan");
}

TEST(ConfigErrors, MissingKey) {
  EXPECT_EQ(ask_text("", [](const Config& config) { config.require<double>("lj.cutoff"); }),
            "run.toml: key 'lj.cutoff' is missing: expected a number");
  EXPECT_EQ(ask_text("[lj]\ncutof = 1\n", [](const Config& config) { config.require<double>("lj.cutoff"); }),
            "run.toml: key 'lj.cutoff' is missing: expected a number (is 'lj.cutof' at run.toml:2 meant?)");
}

TEST(ConfigErrors, Choice) {
  const auto ask = [](const char* text) {
    return ask_text(text, [](const Config& config) { config.choice("kind", "nve", {"nve", "langevin", "rescale"}); });
  };
  EXPECT_EQ(ask("kind = 'langevine'\n"),
            "run.toml:1: key 'kind': unknown choice \"langevine\" (did you mean \"langevin\"?): expected \"nve\", "
            "\"langevin\" or \"rescale\"");
  EXPECT_EQ(ask("kind = 'xyz'\n"),
            "run.toml:1: key 'kind': unknown choice \"xyz\": expected \"nve\", \"langevin\" or \"rescale\"");
  EXPECT_EQ(ask("kind = 3\n"), "run.toml:1: key 'kind': expected a string in quotes, found the integer 3");
}

TEST(ConfigErrors, CountOrAuto) {
  const auto ask = [](const char* text) {
    return ask_text(text, [](const Config& config) { config.count_or_auto("slots"); });
  };
  EXPECT_EQ(ask("slots = 0\n"), "run.toml:1: key 'slots': must be positive, found 0");
  EXPECT_EQ(ask("slots = 'many'\n"),
            "run.toml:1: key 'slots': expected \"auto\" or a positive integer, found the string \"many\"");
  EXPECT_EQ(ask("slots = 1.5\n"),
            "run.toml:1: key 'slots': expected \"auto\" or a positive integer, found the number 1.5");
}

TEST(ConfigErrors, FailNamesThePlace) {
  const Config config = Config::from_text("\nx = 1\n", "run.toml");
  EXPECT_EQ(usage_text([&] { config.fail("x", "too small"); }), "run.toml:2: key 'x': too small");
  EXPECT_EQ(usage_text([&] { config.fail("y", "too small"); }), "run.toml (not set): key 'y': too small");
}

TEST(ConfigErrors, WarningsNameThePlaceAndAreSaidOnce) {
  Config config = Config::from_text("\nx = 1\n", "run.toml");
  std::ostringstream text;
  config.set_log(Log(LogLevel::info, text));
  for (int rank = 0; rank < 3; ++rank) {
    const Config of_rank = config;
    of_rank.warn("x", "is odd");
    of_rank.inform("reading");
  }
  EXPECT_EQ(text.str(), "warning: run.toml:2: key 'x': is odd\ninfo: reading\n");
}

TEST(ConfigErrors, MistakesInTheProgramAreNoUsageErrors) {
  const Config config = Config::from_text("");
  const auto run_text = [](auto&& run) { return test::error_text<RunError>(run); };
  config.get<double>("dt", 0.5);
  EXPECT_EQ(run_text([&] { config.get<double>("dt", 0.25); }),
            "the key 'dt' is asked for with two defaults, 0.5 and 0.25: this is a mistake in the program");
  EXPECT_EQ(run_text([&] { config.get<double>("x", -1.0, positive); }),
            "the default of the key 'x' must be positive, found -1.0: this is a mistake in the program");
  EXPECT_EQ(run_text([&] {
              config.choice("kind", "c", {"a", "b"});
            }),
            "the default of the key 'kind' is not one of its choices: this is a mistake in the program");
}

}  // namespace
}  // namespace dsea
