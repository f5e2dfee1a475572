// The values of a configuration as the parser leaves them: what Config is made of. Internal to base/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dsea::detail {

/// One value of a configuration file or of a --set.
struct ConfigValue {
  /// A TOML value no key can be read as (a date, an array of sections).
  struct Other {
    std::string kind;
  };
  using List = std::vector<ConfigValue>;

  std::variant<Other, bool, std::int64_t, double, std::string, List> value;
  std::string where;  ///< "run.toml:12" or "--set lj.cutoff=3"
  std::string raw;    ///< of a --set whose text has no quotes or brackets: the text itself, else empty

  bool from_set() const { return where.starts_with("--set "); }

  /// For messages, to follow "found": "the string \"abc\"", "the integer 3", "a list".
  std::string text() const;
};

/// All values by dotted key, and all sections, empty ones included, with the place where they were opened.
struct ConfigTree {
  std::map<std::string, ConfigValue, std::less<>> values;
  std::map<std::string, std::string, std::less<>> sections;
};

/// "lj.pair.cutoff" -> "lj.pair"; empty for a key outside all sections.
std::string_view section_of(std::string_view key);

/// Whether `key` is a dotted path of non-empty parts made of letters, digits, '_' and '-'.
bool is_config_key(std::string_view key);

/// Reads TOML text; `name` stands for the file in messages. Throws UsageError with file, line and column.
ConfigTree parse_config(std::string_view text, const std::string& name);

/// Applies one "key.path=value". Throws UsageError if it is malformed or does not fit to what is there.
void apply_config_set(ConfigTree& tree, const std::string& set);

/// What a key of type T has to be: "a number", "a list of integers".
template <class T>
std::string_view type_name();

/// Converts to T; false where the type is wrong. Throws nothing else. An integer too large for int leaves `out` alone
/// and sets `too_large`.
template <class T>
bool convert(const ConfigValue& from, T& out, bool& too_large);

/// The value as TOML; read again, it is the same value to the last bit.
template <class T>
std::string toml_text(const T& value);
std::string toml_text(const ConfigValue& value);

}  // namespace dsea::detail
