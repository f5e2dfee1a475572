// The only file that sees toml++.
#include <toml++/toml.h>

#include <sstream>

#include "dsea/base/config_value.hpp"
#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"

namespace dsea::detail {

namespace {

std::string place(const std::string& name, const toml::source_region& source) {
  return cat(name, ":", source.begin.line);
}

ConfigValue value_of(const toml::node& node, const std::string& where) {
  ConfigValue result{ConfigValue::Other{"a value of unknown kind"}, where, ""};
  switch (node.type()) {
    case toml::node_type::boolean:
      result.value = node.as_boolean()->get();
      break;
    case toml::node_type::integer:
      result.value = node.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      result.value = node.as_floating_point()->get();
      break;
    case toml::node_type::string:
      result.value = node.as_string()->get();
      break;
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      result.value = ConfigValue::Other{"a date or time"};
      break;
    case toml::node_type::table:
      result.value = ConfigValue::Other{"a section"};
      break;
    case toml::node_type::array: {
      ConfigValue::List list;
      for (const toml::node& item : *node.as_array()) list.push_back(value_of(item, where));
      result.value = std::move(list);
      break;
    }
    case toml::node_type::none:
      break;
  }
  return result;
}

/// Adds all values and sections below `table` to the tree. Everything of a --set comes from `set_where`, else empty.
void flatten(const toml::table& table, const std::string& prefix, const std::string& name, const std::string& set_where,
             ConfigTree& tree) {
  for (const auto& [toml_key, node] : table) {
    const std::string part(toml_key.str());
    const std::string where = set_where.empty() ? place(name, node.source()) : set_where;
    if (part.find('.') != std::string::npos || !is_config_key(part)) {
      throw UsageError(cat(where, ": key '", part, "': keys consist of letters, digits, '_' and '-'"));
    }
    const std::string key = prefix.empty() ? part : cat(prefix, ".", part);
    if (const toml::table* section = node.as_table()) {
      tree.sections.emplace(key, where);
      flatten(*section, key, name, set_where, tree);
    } else {
      tree.values.insert_or_assign(key, value_of(node, where));
    }
  }
}

bool is_bare_word(std::string_view text) {
  return !text.empty() && std::string_view("\"'[{").find(text.front()) == std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The TOML table {value = ...} for the right side of a --set.
toml::table parse_set_value(const std::string& text, const std::string& where) {
  try {
    toml::table table = toml::parse(cat("value = ", text));
    if (table.size() == 1 && table.contains("value") && text.find('\n') == std::string::npos) return table;
  } catch (const toml::parse_error& error) {
    if (!is_bare_word(text)) throw UsageError(cat(where, ": not a TOML value: ", error.description()));
  }
  if (!is_bare_word(text)) throw UsageError(cat(where, ": not a single TOML value"));
  return toml::table{{"value", text}};
}

}  // namespace

ConfigTree parse_config(std::string_view text, const std::string& name) {
  ConfigTree tree;
  try {
    flatten(toml::parse(text, name), "", name, "", tree);
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    throw UsageError(cat(name, ":", begin.line, ":", begin.column, ": ", error.description()));
  }
  return tree;
}

void apply_config_set(ConfigTree& tree, const std::string& set) {
  const std::string where = cat("--set ", set);
  const std::size_t equals = set.find('=');
  if (equals == std::string::npos) throw UsageError(cat(where, ": expected key=value, such as --set run.steps=100"));
  const std::string key(trim(std::string_view(set).substr(0, equals)));
  const std::string text(trim(std::string_view(set).substr(equals + 1)));
  if (!is_config_key(key)) {
    throw UsageError(cat(where, ": '", key, "' is not a key: expected section.key=value, such as run.steps=100"));
  }
  if (text.empty()) throw UsageError(cat(where, ": there is no value; an empty string is written ", key, "=\"\""));
  if (tree.sections.count(key) > 0) throw UsageError(cat(where, ": '", key, "' is a section: set one of its keys"));

  for (std::string_view part = section_of(key); !part.empty(); part = section_of(part)) {
    if (const auto found = tree.values.find(part); found != tree.values.end()) {
      throw UsageError(cat(where, ": '", part, "' is not a section: ", found->second.where, " gives it a value"));
    }
    tree.sections.emplace(part, where);
  }
  const toml::table table = parse_set_value(text, where);
  const toml::node& node = *table.get("value");
  if (node.is_table()) throw UsageError(cat(where, ": a section cannot be set as a whole: set its keys one by one"));
  ConfigValue value = value_of(node, where);
  if (is_bare_word(text)) value.raw = text;
  tree.values.insert_or_assign(key, std::move(value));
}

}  // namespace dsea::detail
