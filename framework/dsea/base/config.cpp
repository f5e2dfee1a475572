#include "dsea/base/config.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>

#include "dsea/base/config_record.hpp"
#include "dsea/base/config_value.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/log.hpp"
#include "dsea/base/nearest.hpp"
#include "dsea/base/text.hpp"

namespace dsea {

namespace {

std::string short_text(double value) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

/// What is wrong with a number or the numbers of a list; empty if nothing is.
template <class T>
std::string out_of_range(const T& value, const NumberRange& range) {
  if constexpr (std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, double>) {
    if (range.contains(static_cast<double>(value))) return "";
    return cat("must be ", range.text(), ", found ", detail::toml_text(value));
  } else if constexpr (ConfigNumber<T>) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string problem = out_of_range(value[i], range);
      if (problem.empty()) continue;
      return value.size() == 1 ? problem : cat("element ", i + 1, " of the list ", problem);  // one: also a lone number
    }
  }
  return "";
}

}  // namespace

bool NumberRange::contains(double value) const {
  return std::isfinite(value) && (min_excluded ? value > min : value >= min) &&
         (max_excluded ? value < max : value <= max);
}

std::string NumberRange::text() const {
  const bool has_min = std::isfinite(min), has_max = std::isfinite(max);
  if (has_min && has_max) {
    const auto end = [](double value, bool excluded) { return short_text(value) + (excluded ? " (excluded)" : ""); };
    return cat("between ", end(min, min_excluded), " and ", end(max, max_excluded));
  }
  if (has_min && min == 0.0) return min_excluded ? "positive" : "zero or positive";
  if (has_min) return cat(min_excluded ? "above " : "at least ", short_text(min));
  if (has_max) return cat(max_excluded ? "below " : "at most ", short_text(max));
  return "finite";
}

struct Config::State {
  std::string name;
  detail::ConfigTree tree;  ///< not changed after parsing
  std::mutex mutex;         ///< guards what follows
  detail::ConfigRecord record;
  Log log;
  std::set<std::string, std::less<>> said;  ///< by warn() and inform()

  void say(LogLevel level, std::string text) {
    const std::scoped_lock lock(mutex);
    const auto [line, is_new] = said.insert(std::move(text));
    if (!is_new) return;
    if (level == LogLevel::warning)
      log.warning(*line);
    else
      log.info(*line);
  }
};

Config Config::from_file(const std::string& path, std::span<const std::string> sets) {
  const auto fail_to_read = [&](const std::string& reason) {
    throw UsageError(cat("cannot read the configuration file '", path, "': ", reason));
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_to_read(std::strerror(errno));
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure& error) {  // a folder, for example, opens but cannot be read
    fail_to_read(error.code().message());
  }
  return from_text(text, path, sets);
}

Config Config::from_text(std::string_view text, std::string_view name, std::span<const std::string> sets) {
  auto state = std::make_shared<State>();
  state->name = name;
  state->tree = detail::parse_config(text, state->name);
  for (const std::string& set : sets) detail::apply_config_set(state->tree, set);
  return Config(std::move(state));
}

/// The one way all typed questions take: look up, convert, check, record.
template <class T>
std::optional<T> Config::read(std::string_view key, const T* fallback, bool required, const NumberRange& range) const {
  const auto& values = state_->tree.values;
  const auto found = values.find(key);
  if (found != values.end()) {
    T value{};
    bool too_large = false;
    if (!detail::convert(found->second, value, too_large)) {
      fail(key, cat("expected ", detail::type_name<T>(), ", found ", found->second.text()));
    }
    if (too_large) fail(key, cat(found->second.text(), " is too large here: the limit is 2147483647 either way"));
    if (const std::string problem = out_of_range(value, range); !problem.empty()) fail(key, problem);
    const std::scoped_lock lock(state_->mutex);
    // As written by the user, so that it can be read again as every type it was read as.
    state_->record.add_value(
        key, std::same_as<T, std::string> ? detail::toml_text(value) : detail::toml_text(found->second));
    return value;
  }
  if (state_->tree.sections.count(key) > 0) fail(key, cat("expected ", detail::type_name<T>(), ", found a section"));
  for (std::string_view part = detail::section_of(key); !part.empty(); part = detail::section_of(part)) {
    if (values.count(part) > 0) fail(part, cat("must be a section, with the key '", key, "' in it"));
  }
  const std::scoped_lock lock(state_->mutex);
  if (required) {
    throw UsageError(cat(state_->name, ": key '", key, "' is missing: expected ", detail::type_name<T>(),
                         state_->record.misspelt(key, state_->tree)));
  }
  if (fallback == nullptr) {
    state_->record.add_absent(key);
    return std::nullopt;
  }
  if (const std::string problem = out_of_range(*fallback, range); !problem.empty()) {
    throw RunError(cat("the default of the key '", key, "' ", problem, ": this is a mistake in the program"));
  }
  state_->record.add_default(key, detail::toml_text(*fallback));
  return *fallback;
}

template <ConfigType T>
T Config::get(std::string_view key, const std::type_identity_t<T>& fallback) const {
  return *read<T>(key, &fallback, false, any_number);
}
template <ConfigNumber T>
T Config::get(std::string_view key, const std::type_identity_t<T>& fallback, const NumberRange& range) const {
  return *read<T>(key, &fallback, false, range);
}
template <ConfigType T>
T Config::require(std::string_view key) const {
  return *read<T>(key, nullptr, true, any_number);
}
template <ConfigNumber T>
T Config::require(std::string_view key, const NumberRange& range) const {
  return *read<T>(key, nullptr, true, range);
}
template <ConfigType T>
std::optional<T> Config::find(std::string_view key) const {
  return read<T>(key, nullptr, false, any_number);
}
template <ConfigNumber T>
std::optional<T> Config::find(std::string_view key, const NumberRange& range) const {
  return read<T>(key, nullptr, false, range);
}

#define DSEA_CONFIG_TYPE(...)                                                                \
  template __VA_ARGS__ Config::get<__VA_ARGS__>(std::string_view, const __VA_ARGS__&) const; \
  template __VA_ARGS__ Config::require<__VA_ARGS__>(std::string_view) const;                 \
  template std::optional<__VA_ARGS__> Config::find<__VA_ARGS__>(std::string_view) const;
#define DSEA_CONFIG_NUMBER(...)                                                                                  \
  DSEA_CONFIG_TYPE(__VA_ARGS__)                                                                                  \
  template __VA_ARGS__ Config::get<__VA_ARGS__>(std::string_view, const __VA_ARGS__&, const NumberRange&) const; \
  template __VA_ARGS__ Config::require<__VA_ARGS__>(std::string_view, const NumberRange&) const;                 \
  template std::optional<__VA_ARGS__> Config::find<__VA_ARGS__>(std::string_view, const NumberRange&) const;
DSEA_CONFIG_TYPE(bool)
DSEA_CONFIG_TYPE(std::string)
DSEA_CONFIG_TYPE(std::vector<std::string>)
DSEA_CONFIG_NUMBER(int)
DSEA_CONFIG_NUMBER(std::int64_t)
DSEA_CONFIG_NUMBER(double)
DSEA_CONFIG_NUMBER(std::vector<double>)
DSEA_CONFIG_NUMBER(std::vector<std::int64_t>)
#undef DSEA_CONFIG_NUMBER
#undef DSEA_CONFIG_TYPE

std::optional<std::string> Config::find_file(std::string_view key) const {
  const auto value = find<std::string>(key);
  if (!value) return std::nullopt;
  if (value->empty()) fail(key, "is empty: name a file");
  const std::filesystem::path path = std::filesystem::path(name()).parent_path() / *value;  // or *value, if absolute
  const std::scoped_lock lock(state_->mutex);
  state_->record.add_value(key, detail::toml_text(std::filesystem::absolute(path).lexically_normal().string()));
  return path.string();
}

bool Config::has(std::string_view key) const {
  const detail::ConfigTree& tree = state_->tree;
  const auto found = tree.values.find(key);
  const bool is_section = tree.sections.count(key) > 0;
  const std::scoped_lock lock(state_->mutex);
  if (found != tree.values.end()) {
    state_->record.add_present(key, detail::toml_text(found->second));
    return true;
  }
  // What is not there could be either; sections inside sections are rare.
  if (is_section || detail::section_of(key).empty()) {
    state_->record.add_section(key);
  } else {
    state_->record.add_absent(key);
  }
  return is_section;
}

bool Config::in_file(std::string_view key) const {
  const detail::ConfigTree& tree = state_->tree;
  return tree.values.find(key) != tree.values.end() || tree.sections.count(key) > 0;
}

std::string Config::choice_of(std::string_view key, std::string_view fallback,
                              std::span<const std::string> choices) const {
  const auto is_choice = [&](std::string_view word) { return std::ranges::find(choices, word) != choices.end(); };
  if (!is_choice(fallback)) {
    throw RunError(
        cat("the default of the key '", key, "' is not one of its choices: this is a mistake in the program"));
  }
  std::string value = get<std::string>(key, std::string(fallback));
  if (is_choice(value)) return value;
  std::string message = cat("unknown choice ", detail::toml_text(value));
  const std::string near = nearest(value, choices);
  if (!near.empty()) message += cat(" (did you mean ", detail::toml_text(near), "?)");
  message += ": expected ";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    message += cat(i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", detail::toml_text(choices[i]));
  }
  fail(key, message);
}

std::string Config::choice(std::string_view key, std::string_view fallback,
                           std::initializer_list<std::string_view> choices) const {
  return choice_of(key, fallback, std::vector<std::string>(choices.begin(), choices.end()));
}

std::string Config::choice(std::string_view key, std::string_view fallback,
                           std::span<const std::string> choices) const {
  return choice_of(key, fallback, choices);
}

Config::CountOrWord Config::count_or(std::string_view key, std::initializer_list<std::string_view> words) const {
  std::string word(*words.begin());
  const auto found = state_->tree.values.find(key);
  if (found != state_->tree.values.end()) {
    const auto& value = found->second.value;
    if (std::holds_alternative<std::int64_t>(value)) return {require<std::int64_t>(key, positive), {}};
    const auto* given = std::get_if<std::string>(&value);
    if (given == nullptr || std::find(words.begin(), words.end(), *given) == words.end()) {
      std::string expected;
      for (const std::string_view w : words) expected += cat("\"", w, "\" or ");
      fail(key, cat("expected ", expected, "a positive integer, found ", found->second.text()));
    }
    word = *given;
  }
  get<std::string>(key, std::string(*words.begin()));
  return {std::nullopt, word};
}

const std::string& Config::name() const { return state_->name; }

std::string Config::where(std::string_view key) const {
  const detail::ConfigTree& tree = state_->tree;
  if (const auto found = tree.values.find(key); found != tree.values.end()) return found->second.where;
  if (const auto found = tree.sections.find(key); found != tree.sections.end()) return found->second;
  return cat(state_->name, " (not set)");
}

void Config::fail(std::string_view key, std::string_view message) const {
  throw UsageError(cat(where(key), ": key '", key, "': ", message));
}

void Config::warn(std::string_view key, std::string_view message) const {
  state_->say(LogLevel::warning, cat(where(key), ": key '", key, "': ", message));
}

void Config::inform(std::string_view message) const { state_->say(LogLevel::info, std::string(message)); }

void Config::set_log(const Log& log) {
  const std::scoped_lock lock(state_->mutex);
  state_->log = log;
}

void Config::expect_sections(const std::vector<std::string>& sections) const {
  const std::scoped_lock lock(state_->mutex);
  for (const std::string& section : sections) state_->record.add_section(section);
  const std::string problem = state_->record.foreign(state_->tree);
  if (!problem.empty()) throw UsageError(problem);
}

std::string Config::suspects() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->record.suspects(state_->tree);
}

void Config::check_all_used() const {
  const std::scoped_lock lock(state_->mutex);
  const std::string problems = state_->record.unused(state_->tree);
  if (!problems.empty()) throw UsageError(problems);
}

std::string Config::effective_toml() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->record.toml();
}

}  // namespace dsea
