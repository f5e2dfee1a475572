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

void ConfigRecord::add_present(std::string_view key, std::string toml) {
  if (const auto found = asked_.find(key); found != asked_.end() && !found->second.toml.empty()) return;
  add_value(key, std::move(toml));
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

void ConfigRecord::sort_by_line(std::vector<Problem>& problems) {
  // Of two numbers after the same file name the longer one is the larger one.
  std::ranges::sort(problems, [](const Problem& a, const Problem& b) {
    return std::pair(a.where.size(), a.where) < std::pair(b.where.size(), b.where);
  });
}

void ConfigRecord::find_unknown_sections(const ConfigTree& tree, std::vector<Problem>& misspelt,
                                         std::vector<Problem>& strange) const {
  const std::vector<std::string> known(sections_.begin(), sections_.end());
  for (const auto& [section, where] : tree.sections) {
    if (is_known_section(section) || in_unknown_section(section)) continue;
    const std::string meant = nearest(section, known);
    if (meant.empty())
      strange.push_back({where, cat("[", section, "]")});
    else
      misspelt.push_back({where, cat("unknown section [", section, "] (did you mean [", meant, "]?)")});
  }
  sort_by_line(strange);
}

std::string ConfigRecord::foreign(const ConfigTree& tree) const {
  std::vector<Problem> misspelt, strange;
  find_unknown_sections(tree, misspelt, strange);
  if (strange.size() < 2) return "";
  return cat(strange[0].where, ": unknown sections ", joined(strange, ", ", &Problem::what),
             ": is this file for another program?", known_sections());
}

std::string ConfigRecord::unused(const ConfigTree& tree) const {
  std::vector<Problem> problems, strange;
  find_unknown_sections(tree, problems, strange);
  if (strange.size() == 1) {
    problems.push_back({strange[0].where, cat("unknown section ", strange[0].what, known_sections())});
  }
  for (const auto& [key, value] : tree.values) {
    if (asked_.count(key) == 0 && !in_unknown_section(key)) {
      problems.push_back({value.where, unknown_key(key, tree)});
    }
  }
  sort_by_line(problems);
  const std::string text = foreign(tree);
  return cat(text, text.empty() || problems.empty() ? "" : "\n",
             joined(problems, "\n", [](const Problem& p) { return cat(p.where, ": ", p.what); }));
}

std::string ConfigRecord::suspects(const ConfigTree& tree) const {
  std::vector<Problem> problems, strange;
  find_unknown_sections(tree, problems, strange);
  for (const auto& [key, value] : tree.values) {
    if (asked_.count(key) > 0 || in_unknown_section(key)) continue;
    std::vector<std::string> free_here;
    for (const auto& [other, asked] : asked_) {
      if (section_of(other) == section_of(key) && tree.values.count(other) == 0) free_here.push_back(other);
    }
    const std::string meant = nearest_by_leaf(key, free_here);
    if (!meant.empty()) problems.push_back({value.where, cat("is '", meant, "' meant by '", key, "'?")});
  }
  sort_by_line(problems);
  std::string text;
  for (const auto& [where, what] : problems) text += cat("\n", where, ": ", what);
  return text;
}

std::string ConfigRecord::unknown_key(const std::string& key, const ConfigTree& tree) const {
  const std::string_view section = section_of(key);
  // Free: may be meant. What is given already is not what another line means, but a --set may mean any key.
  std::vector<std::string> all_here, free_here, free_elsewhere;
  const bool from_set = tree.values.find(key)->second.from_set();
  for (const auto& [other, asked] : asked_) {
    const bool is_free = from_set || tree.values.count(other) == 0;
    if (section_of(other) == section) all_here.push_back(other);
    if (is_free) (section_of(other) == section ? free_here : free_elsewhere).push_back(other);
  }
  std::string meant = nearest_by_leaf(key, free_here);
  if (meant.empty()) meant = nearest_by_leaf(key, free_elsewhere);
  if (!meant.empty()) return cat("unknown key '", key, "' (did you mean '", meant, "'?)");
  std::string text = cat("unknown key '", key, "'");
  if (!section.empty() && !all_here.empty() && all_here.size() <= most_listed) {
    text += cat(" (known in [", section, "]: ", joined(all_here, ", ", leaf_of), ")");
  }
  return text;
}

std::string ConfigRecord::known_sections() const {
  if (sections_.empty() || sections_.size() > most_listed) return "";
  std::string text = " (known:";
  for (const std::string& name : sections_) text += cat(" [", name, "]");
  return text + ")";
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
