#include "dsea/base/config_record.hpp"

#include <algorithm>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/nearest.hpp"
#include "dsea/base/text.hpp"

namespace dsea::detail {

namespace {

std::string_view leaf_of(std::string_view key) {
  const std::string_view section = section_of(key);
  return section.empty() ? key : key.substr(section.size() + 1);
}

/// The key whose last part is nearest to that of `key`; empty if none is near.
std::string nearest_by_leaf(std::string_view key, const std::vector<std::string>& keys) {
  std::vector<std::string> leaves;
  leaves.reserve(keys.size());
  for (const std::string& other : keys) leaves.emplace_back(leaf_of(other));
  const std::string leaf = nearest(leaf_of(key), leaves);
  if (leaf.empty()) return "";
  return keys[static_cast<std::size_t>(std::ranges::find(leaves, leaf) - leaves.begin())];
}

constexpr std::size_t most_listed = 16;  // longer lists do not help the reader

}  // namespace

void ConfigRecord::note_sections(std::string_view key) {
  for (std::string_view part = section_of(key); !part.empty(); part = section_of(part)) sections_.emplace(part);
}

void ConfigRecord::add_value(std::string_view key, std::string toml) {
  note_sections(key);
  asked_.insert_or_assign(std::string(key), Asked{std::move(toml), false});
}

void ConfigRecord::add_default(std::string_view key, std::string toml) {
  note_sections(key);
  Asked& asked = asked_.try_emplace(std::string(key), Asked{"", true}).first->second;
  if (!asked.toml.empty() && asked.toml != toml) {
    throw RunError(cat("the key '", key, "' is asked for with two defaults, ", asked.toml, " and ", toml,
                       ": this is a mistake in the program"));
  }
  asked.toml = std::move(toml);
}

void ConfigRecord::add_absent(std::string_view key) {
  note_sections(key);
  asked_.try_emplace(std::string(key), Asked{"", true});
}

void ConfigRecord::add_section(std::string_view section) {
  note_sections(section);
  sections_.emplace(section);
}

std::string ConfigRecord::unused(const ConfigTree& tree) const {
  std::vector<std::pair<std::string, std::string>> problems;  // where, what
  // Of an unknown section only the outermost is reported, and none of its keys.
  const auto in_unknown = [&](std::string_view key) {
    return !section_of(key).empty() && !is_known_section(section_of(key));
  };
  for (const auto& [section, where] : tree.sections) {
    if (!is_known_section(section) && !in_unknown(section)) problems.emplace_back(where, unknown_section(section));
  }
  for (const auto& [key, value] : tree.values) {
    if (asked_.count(key) == 0 && !in_unknown(key)) problems.emplace_back(value.where, unknown_key(key, tree));
  }
  // By line: of two numbers after the same file name the longer one is the larger one.
  std::ranges::sort(problems, [](const auto& a, const auto& b) {
    return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
  });
  std::string text;
  for (const auto& [where, what] : problems) text += cat(text.empty() ? "" : "\n", where, ": ", what);
  return text;
}

std::string ConfigRecord::unknown_key(const std::string& key, const ConfigTree& tree) const {
  const std::string_view section = section_of(key);
  std::vector<std::string> all_here, free_here, free_elsewhere;  // free: not given in the file, so it may be meant
  for (const auto& [other, asked] : asked_) {
    const bool is_free = tree.values.count(other) == 0;
    if (section_of(other) == section) all_here.push_back(other);
    if (is_free) (section_of(other) == section ? free_here : free_elsewhere).push_back(other);
  }
  std::string meant = nearest_by_leaf(key, free_here);
  if (meant.empty()) meant = nearest_by_leaf(key, free_elsewhere);
  if (!meant.empty()) return cat("unknown key '", key, "' (did you mean '", meant, "'?)");
  std::string text = cat("unknown key '", key, "'");
  if (!section.empty() && !all_here.empty() && all_here.size() <= most_listed) {
    text += cat(" (known in [", section, "]:");
    for (std::size_t i = 0; i < all_here.size(); ++i) text += cat(i == 0 ? " " : ", ", leaf_of(all_here[i]));
    text += ")";
  }
  return text;
}

std::string ConfigRecord::unknown_section(std::string_view section) const {
  const std::vector<std::string> known(sections_.begin(), sections_.end());
  const std::string meant = nearest(section, known);
  std::string text = cat("unknown section [", section, "]");
  if (!meant.empty()) {
    text += cat(" (did you mean [", meant, "]?)");
  } else if (!known.empty() && known.size() <= most_listed) {
    text += " (known:";
    for (const std::string& name : known) text += cat(" [", name, "]");
    text += ")";
  }
  return text;
}

std::string ConfigRecord::misspelt(std::string_view key, const ConfigTree& tree) const {
  std::vector<std::string> candidates;
  for (const auto& [other, value] : tree.values) {
    if (section_of(other) == section_of(key) && asked_.count(other) == 0) candidates.push_back(other);
  }
  const std::string found = nearest_by_leaf(key, candidates);
  return found.empty() ? "" : cat(" (is '", found, "' at ", tree.values.find(found)->second.where, " meant?)");
}

std::string ConfigRecord::toml() const {
  std::map<std::string, std::string, std::less<>> sections;  // name -> lines; the keys outside all sections come first
  for (const auto& [key, asked] : asked_) {
    std::string& lines = sections[std::string(section_of(key))];
    const std::string_view leaf = leaf_of(key);
    lines += asked.toml.empty() ? cat("# ", leaf, " is not set\n")
                                : cat(leaf, " = ", asked.toml, asked.is_default ? "  # default\n" : "\n");
  }
  std::string text;
  for (const auto& [section, lines] : sections) {
    if (!section.empty()) text += cat(text.empty() ? "" : "\n", "[", section, "]\n");
    text += lines;
  }
  return text;
}

}  // namespace dsea::detail
