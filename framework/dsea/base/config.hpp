// The configuration of a run: a TOML file plus `--set key=value` from the command line.
//
// A worker reads its own section in its constructor and keeps plain numbers:
//
//   explicit Heat(const dsea::Config& config)
//       : dt_(config.get<double>("time.dt", 0.001, dsea::positive)),
//         nx_(config.require<int>("heat.nx", dsea::at_least(3))),
//         scheme_(config.choice("heat.scheme", "ftcs", {"ftcs", "rk3"})) {
//     if (dt_ > limit) config.fail("time.dt", dsea::cat("above the stability limit ", limit, ": make it smaller"));
//   }
//
// Rules:
// - A key is the dotted path of a value: "lj.cutoff" is the key `cutoff` of the section [lj]. Keys consist of letters,
//   digits, '_' and '-'. Arrays of sections ([[name]]) cannot be read.
// - Every question about a key (get, require, find, has, choice, count_or_auto) is recorded together with the value in
//   effect. After all parts of a program have read theirs, run_app calls check_all_used(): what is in the file and was
//   never asked about is an error, so a misspelt key cannot go unnoticed. Hence ask for all keys up front and always;
//   ask also for those that only matter in another mode, unless giving them there shall be an error.
// - One key has one default. Asking twice with different defaults is a mistake in the program and throws RunError.
// - Whatever is wrong with the user's text throws UsageError; it names file and line (or the --set), the key, what was
//   found and what is expected.
// - Numbers are finite: nan and inf are refused for every key.
//
// A Config is cheap to copy; copies share values and record. All members may be called from several threads at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dsea {

class Log;

/// What a number, or each number of a list, may be. Use the named ones below: positive, at_least(3), between(0, 1).
struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_excluded = false;
  bool max_excluded = false;

  /// False for nan and infinite values too.
  bool contains(double value) const;
  /// For messages, to follow "must be": "positive", "at least 3", "between 0 and 1", "finite".
  std::string text() const;
};

inline constexpr NumberRange any_number{};                                              ///< any finite number
inline constexpr NumberRange positive{.min = 0.0, .min_excluded = true};                ///< > 0
inline constexpr NumberRange not_negative{.min = 0.0};                                  ///< >= 0
constexpr NumberRange at_least(double min) { return {.min = min}; }                     ///< >= min
constexpr NumberRange at_most(double max) { return {.max = max}; }                      ///< <= max
constexpr NumberRange between(double min, double max) { return {min, max}; }            ///< both ends included
constexpr NumberRange above(double min) { return {.min = min, .min_excluded = true}; }  ///< > min
constexpr NumberRange below(double max) { return {.max = max, .max_excluded = true}; }  ///< < max

/// Numbers, or lists of them, that a key can be read as. An integer literal is accepted where a double is asked for;
/// a literal with a point or an exponent is not accepted where an integer is asked for. A number is accepted where a
/// list is asked for, as a list of one.
template <class T>
concept ConfigNumber = std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, double> ||
    std::same_as<T, std::vector<double>> || std::same_as<T, std::vector<std::int64_t>>;

/// Everything a key can be read as.
template <class T>
concept ConfigType = ConfigNumber<T> || std::same_as<T, bool> || std::same_as<T, std::string> ||
    std::same_as<T, std::vector<std::string>>;

class Config {
 public:
  /// Reads a TOML file and then applies `sets`, each "key.path=value", in their order; a later one wins. A value is
  /// written as in TOML; a bare word that is not valid TOML is a string (`--set run.out=/tmp/x`), and text without
  /// quotes may be read as a string whatever it looks like (`--set run.out=2024`). Throws UsageError if the file cannot
  /// be read, on syntax errors (file, line, column), and on malformed sets.
  static Config from_file(const std::string& path, std::span<const std::string> sets = {});

  /// The same from text in memory; `name` stands for the file name in messages.
  static Config from_text(std::string_view text, std::string_view name = "<text>",
                          std::span<const std::string> sets = {});

  /// The value of a key, or `fallback` where the key is absent. The type is always written out: get<double>("time.dt",
  /// 1).
  template <ConfigType T>
  T get(std::string_view key, const std::type_identity_t<T>& fallback) const;

  /// The same, and each number must lie in `range`; so must the fallback (use find() for "absent means something
  /// else").
  template <ConfigNumber T>
  T get(std::string_view key, const std::type_identity_t<T>& fallback, const NumberRange& range) const;

  /// The value of a key that must be there.
  template <ConfigType T>
  T require(std::string_view key) const;
  template <ConfigNumber T>
  T require(std::string_view key, const NumberRange& range) const;

  /// The value of a key that has no default: nothing where it is absent.
  template <ConfigType T>
  std::optional<T> find(std::string_view key) const;
  template <ConfigNumber T>
  std::optional<T> find(std::string_view key, const NumberRange& range) const;

  /// The path of a file to read: a relative one starts at the folder of the configuration file. In effective_toml() it
  /// is absolute, so that a run can be repeated from there. Nothing where the key is absent; an empty name is an error.
  std::optional<std::string> find_file(std::string_view key) const;

  /// Whether a key or a section is there. Counts as a question about the key, but not about the keys inside a section.
  bool has(std::string_view key) const;

  /// The same, but no question: for names that are never right, to say which one is meant.
  bool in_file(std::string_view key) const;

  /// A string out of a fixed list; another value is an error that names the nearest choice and lists all.
  std::string choice(std::string_view key, std::string_view fallback,
                     std::initializer_list<std::string_view> choices) const;
  std::string choice(std::string_view key, std::string_view fallback, std::span<const std::string> choices) const;

  /// A positive number, or nothing for "auto", which is the default: workers = "auto".
  std::optional<std::int64_t> count_or_auto(std::string_view key) const { return count_or(key, {"auto"}).count; }

  /// A positive number, or one of some words, of which the first is the default: slots = "auto" | "fewest" | 7.
  struct CountOrWord {
    std::optional<std::int64_t> count;
    std::string word;  ///< empty if there is a count
  };
  CountOrWord count_or(std::string_view key, std::initializer_list<std::string_view> words) const;

  /// Name of the file as it was given.
  const std::string& name() const;

  /// Where a key's value comes from: "run.toml:12", "--set lj.cutoff=3", or "run.toml (not set)".
  std::string where(std::string_view key) const;

  /// Throws UsageError "run.toml:12: key 'lj.cutoff': message". For checks that need more than one key.
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;

  /// For what is no error but worth a look: logs "run.toml:12: key 'lj.cutoff': message" as a warning. Like inform() it
  /// says the same thing once, however many ranks of this process find it.
  void warn(std::string_view key, std::string_view message) const;

  /// Logs a line at level info: what takes a while before the first step.
  void inform(std::string_view message) const;

  /// Where warn() and inform() write from now on; before, warnings go to stderr.
  void set_log(const Log& log);

  /// To be called before the first key is read, with the sections that a program reads. If the file has several others
  /// that do not even look like one of them, it is for another program, and complaints about values would mislead:
  /// throws UsageError that says so and lists them. One unknown section is left to check_all_used().
  void expect_sections(const std::vector<std::string>& sections) const;

  /// What may have been misspelt, a line each after a line break; empty if nothing looks like it. For adding to an
  /// error that ended a program before it had asked for all of its keys: what is missing may be there under a wrong
  /// name.
  std::string suspects() const;

  /// Throws UsageError that lists every key and section nobody asked about, one a line, with the nearest known one:
  /// run.toml:4: unknown key 'lj.cutof' (did you mean 'lj.cutoff'?). To be called when every part has read its keys.
  void check_all_used() const;

  /// The keys asked for so far with the values in effect, defaults included, by section, as valid TOML. Read again, it
  /// gives the same values to the last bit. Keys without value and default appear as comments.
  std::string effective_toml() const;

 private:
  struct State;
  explicit Config(std::shared_ptr<State> state) : state_(std::move(state)) {}

  template <class T>
  std::optional<T> read(std::string_view key, const T* fallback, bool required, const NumberRange& range) const;
  std::string choice_of(std::string_view key, std::string_view fallback, std::span<const std::string> choices) const;

  std::shared_ptr<State> state_;
};

}  // namespace dsea
