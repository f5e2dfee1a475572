#include <gtest/gtest.h>

#include "base/error_text.hpp"
#include "dsea/base/config.hpp"
#include "dsea/base/error.hpp"

namespace dsea {
namespace {

/// What check_all_used says after a program asked for the keys of a small simulation.
std::string unused_text(const char* text, std::vector<std::string> sets = {}) {
  const Config config = Config::from_text(text, "run.toml", sets);
  config.get<int>("run.steps", 1);
  config.get<double>("lj.cutoff", 2.5);
  config.get<double>("lj.sigma", 1.0);
  config.get<double>("time.dt", 0.001);
  config.get<double>("ensemble.langevin.damp", 1.0);
  config.find<std::string>("system.data");
  config.has("output");
  return test::error_text<UsageError>([&] { config.check_all_used(); });
}

TEST(ConfigUnused, NothingUnknown) {
  EXPECT_EQ(unused_text(""), "<no exception>");
  EXPECT_EQ(unused_text("[run]\nsteps = 5\n[lj]\ncutoff = 3\n[output]\n[ensemble.langevin]\ndamp = 2\n"),
            "<no exception>");
}

TEST(ConfigUnused, MisspeltKey) {
  EXPECT_EQ(unused_text("[run]\nsteps = 5\n[lj]\ncutof = 3\n"),
            "run.toml:4: unknown key 'lj.cutof' (did you mean 'lj.cutoff'?)");
  EXPECT_EQ(unused_text("[system]\nDate = 'x'\n"),
            "run.toml:2: unknown key 'system.Date' (did you mean 'system.data'?)");
}

TEST(ConfigUnused, NothingNearListsTheSection) {
  EXPECT_EQ(unused_text("[lj]\nwidth = 3\n"), "run.toml:2: unknown key 'lj.width' (known in [lj]: cutoff, sigma)");
  // What is given already is not what was meant.
  EXPECT_EQ(unused_text("[lj]\ncutoff = 3\ncutof = 3\n"),
            "run.toml:3: unknown key 'lj.cutof' (known in [lj]: cutoff, sigma)");
}

TEST(ConfigUnused, KeyInTheWrongSection) {
  EXPECT_EQ(unused_text("steps = 5\n"), "run.toml:1: unknown key 'steps' (did you mean 'run.steps'?)");
  EXPECT_EQ(unused_text("[time]\nsteps = 5\n"), "run.toml:2: unknown key 'time.steps' (did you mean 'run.steps'?)");
  EXPECT_EQ(unused_text("[ensembl.langevin]\ndamp = 5\n"),
            "run.toml:1: unknown section [ensembl] (did you mean [ensemble]?)");
  EXPECT_EQ(unused_text("[ensemble.langewin]\ndamp = 5\n"),
            "run.toml:1: unknown section [ensemble.langewin] (did you mean [ensemble.langevin]?)");
}

TEST(ConfigUnused, UnknownSection) {
  EXPECT_EQ(unused_text("[ljj]\ncutoff = 3\nsigma = 1\n"), "run.toml:1: unknown section [ljj] (did you mean [lj]?)");
  EXPECT_EQ(unused_text("\n[empty.inner]\n"),
            "run.toml:2: unknown section [empty] (known: [ensemble] [ensemble.langevin] [lj] [output] [run] [system] "
            "[time])");
}

TEST(ConfigUnused, AFileForAnotherProgramIsNamedAsSuch) {
  const char* heat = "[run]\nsteps = 5\n[grid]\nnx = 3\n[heat]\ndt = 1\n[boundary]\ny = 'insulated'\n";
  EXPECT_EQ(unused_text(heat),
            "run.toml:3: unknown sections [grid], [heat], [boundary]: is this file for another program? (known: "
            "[ensemble] [ensemble.langevin] [lj] [output] [run] [system] [time])");
  // A program that states its sections first says so before it complains about values.
  const auto expecting = [](const char* text) {
    const Config config = Config::from_text(text, "run.toml");
    return test::error_text<UsageError>([&] { config.expect_sections({"run", "lj", "boundary"}); });
  };
  EXPECT_EQ(expecting(heat),
            "run.toml:3: unknown sections [grid], [heat]: is this file for another program? (known: [boundary] [lj] "
            "[run])");
  EXPECT_EQ(expecting("[run]\n[grid]\n[ljj]\n"), "<no exception>") << "check_all_used() knows more of these";
  EXPECT_EQ(expecting("[run]\n[lj]\n"), "<no exception>");
}

TEST(ConfigUnused, KeyOfASectionThatIsOnlyKnownToBeThere) {
  EXPECT_EQ(unused_text("[output]\nquantity = 3\n"), "run.toml:2: unknown key 'output.quantity'");
}

TEST(ConfigUnused, SetsAndSectionArrays) {
  EXPECT_EQ(unused_text("", {"lj.cutof=3"}), "--set lj.cutof=3: unknown key 'lj.cutof' (did you mean 'lj.cutoff'?)");
  // The right key may be given as well, and is still what a --set means.
  EXPECT_EQ(unused_text("[lj]\ncutoff = 3\n", {"lj.cutof=3"}),
            "--set lj.cutof=3: unknown key 'lj.cutof' (did you mean 'lj.cutoff'?)");
  EXPECT_EQ(unused_text("", {"lj.cutoff=3", "lj.cutof=3"}),
            "--set lj.cutof=3: unknown key 'lj.cutof' (did you mean 'lj.cutoff'?)");
  EXPECT_EQ(unused_text("", {"ljj.cutoff=3"}), "--set ljj.cutoff=3: unknown section [ljj] (did you mean [lj]?)");
  EXPECT_EQ(unused_text("[[species]]\nname = 'a'\n"), "run.toml:1: unknown key 'species'");
}

TEST(ConfigUnused, AllAreListedByLine) {
  EXPECT_EQ(unused_text("[time]\nend = 1\n\n\n\n\n\n\n[lj]\nz = 1\n[run]\na = 1\n"),
            "run.toml:2: unknown key 'time.end' (known in [time]: dt)\n"
            "run.toml:10: unknown key 'lj.z' (known in [lj]: cutoff, sigma)\n"
            "run.toml:12: unknown key 'run.a' (known in [run]: steps)");
}

}  // namespace
TEST(ConfigSuspects, OnlyWhatLooksLikeSomethingThatIsMissing) {
  const Config config = Config::from_text("[lj]\ncutof = 1\nother = 2\n[sytem]\nx = 1\n", "run.toml");
  EXPECT_EQ(config.suspects(), "");  // nothing has been asked for
  config.find<double>("lj.cutoff");
  config.find<double>("system.x");
  EXPECT_EQ(config.suspects(),
            "\nrun.toml:2: is 'lj.cutoff' meant by 'lj.cutof'?"
            "\nrun.toml:4: unknown section [sytem] (did you mean [system]?)");
}

}  // namespace dsea
