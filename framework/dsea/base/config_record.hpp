// What was asked of a configuration: finds what nobody asked for. Internal to base/; not thread safe.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsea/base/config_value.hpp"

namespace dsea::detail {

class ConfigRecord {
 public:
  /// `key` was asked for, is there, and has the value `toml`.
  void add_value(std::string_view key, std::string toml);
  /// `key` was asked for, is not there, and its default is `toml`. Throws RunError if it had another default before.
  void add_default(std::string_view key, std::string toml);
  /// It was asked whether the key is there, and it is: a value that was asked for before stays.
  void add_present(std::string_view key, std::string toml);
  /// `key` was asked for, is not there, and has no default.
  void add_absent(std::string_view key);
  /// It was asked whether the section is there.
  void add_section(std::string_view section);

  /// Keys nobody has asked about yet that look like ones that were asked for and are not there, and sections of unknown
  /// names that look like known ones, each on a line of its own after a line break; for a program that ends early.
  std::string suspects(const ConfigTree& tree) const;

  /// All keys and sections of `tree` that were not asked for, one a line, with the nearest known one; empty if none.
  std::string unused(const ConfigTree& tree) const;

  /// If the file is for another program, which several sections tell that are like none that is known: says so and
  /// lists them, in one line; else empty.
  std::string foreign(const ConfigTree& tree) const;

  /// For the message that `key` is missing: " (is 'lj.cutof' at run.toml:4 meant?)", or nothing.
  std::string misspelt(std::string_view key, const ConfigTree& tree) const;

  /// All keys asked for with the values in effect.
  std::string toml() const;

 private:
  struct Asked {
    std::string toml;  ///< empty: no value, no default
    bool is_default;
  };
  bool is_known_section(std::string_view section) const { return sections_.count(section) > 0; }
  /// Whether the section that holds `key` is unknown: then that is what is reported.
  bool in_unknown_section(std::string_view key) const {
    return !section_of(key).empty() && !is_known_section(section_of(key));
  }
  /// A place in the file and what is wrong there.
  struct Problem {
    std::string where, what;
  };
  static void sort_by_line(std::vector<Problem>& problems);
  /// The outermost unknown sections that are near a known one, and those that are not.
  void find_unknown_sections(const ConfigTree& tree, std::vector<Problem>& misspelt,
                             std::vector<Problem>& strange) const;
  std::string known_sections() const;
  std::string unknown_key(const std::string& key, const ConfigTree& tree) const;
  void note_sections(std::string_view key);

  std::map<std::string, Asked, std::less<>> asked_;
  std::set<std::string, std::less<>> sections_;  ///< all that hold a key asked for, or were asked for
};

}  // namespace dsea::detail
