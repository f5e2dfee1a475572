#include "dsea/app/all_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <sstream>

#include "dsea/base/hash.hpp"
#include "dsea/base/machine.hpp"
#include "dsea/base/packed_texts.hpp"
#include "dsea/base/text.hpp"

namespace dsea {
namespace {

/// Reading a large input may take one rank far longer than another.
constexpr std::chrono::minutes patience(10);

/// The first line in which two texts differ, with the section of a .toml file that it is in: "[run] steps = 3".
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  std::string section, x, y;
  for (;;) {
    const bool more_left = static_cast<bool>(std::getline(left, x));
    const bool more_right = static_cast<bool>(std::getline(right, y));
    if (!more_left) x = "nothing";
    if (!more_right) y = "nothing";
    const auto in_section = [&](const std::string& line, bool there) {
      return there && !line.starts_with("[") ? section + line : line;
    };
    if (x != y || !more_left) return {in_section(x, more_left), in_section(y, more_right)};
    if (x.starts_with("[")) section = x + " ";
  }
}

}  // namespace

int on_all_ranks(const MpiSession& session, const std::string& name, const std::function<void()>& step) {
  ExitCode code = ExitCode::done;
  std::string error;
  bool missed = false;
  try {
    step();
  } catch (const Error& e) {
    code = e.exit_code();
    error = e.what();
    missed = dynamic_cast<const RanksMissing*>(&e) != nullptr;
  } catch (const std::exception& e) {
    code = ExitCode::failed;
    error = e.what();
  }
  constexpr int codes = 256;
  const int none = 2 * session.size() * codes;
  const int place = session.rank() + (missed ? session.size() : 0);
  const int mine = code == ExitCode::done ? none : place * codes + static_cast<int>(code);
  const int lowest = session.smallest(mine, patience);
  if (lowest == none) return 0;
  if (lowest == mine) std::cerr << name << ": error: " << error << std::endl;
  return lowest % codes;
}

std::vector<std::vector<std::string>> texts_of_all(const MpiSession& session, const std::vector<std::string>& mine) {
  std::vector<std::vector<std::string>> all;
  for (const auto& bytes : session.gather_all(pack_texts(mine), patience)) all.push_back(unpack_texts(bytes));
  return all;
}

std::string difference_of_ranks(const std::vector<Trait>& traits, const std::vector<std::vector<std::string>>& ranks) {
  const std::vector<std::string>& zero = ranks.front();
  for (std::size_t t = 0; t < traits.size(); ++t) {
    const auto differs = [&](const std::vector<std::string>& rank) {
      return rank.size() != traits.size() + 1 || rank[t + 1] != zero[t + 1];
    };
    const auto first = std::find_if(ranks.begin(), ranks.end(), differs);
    if (first == ranks.end()) continue;
    const auto rank = first - ranks.begin();
    if (first->size() != traits.size() + 1)
      return cat("rank ", rank, " is another version of DSEA than rank 0: start all ranks with the same program");
    const auto [there, here] = first_difference((*first)[t + 1], zero[t + 1]);
    const auto others = std::count_if(ranks.begin(), ranks.end(), differs) - 1;
    const std::string more = others == 0 ? "" : cat(", like ", others, others == 1 ? " other" : " others", ",");
    return cat("rank ", rank, " on ", first->front(), more, " ", traits[t].what, " ", there, "; rank 0 on ",
               zero.front(), " ", traits[t].what, " ", here, ": ", traits[t].fix);
  }
  return {};
}

void demand_same(const MpiSession& session, const std::vector<Trait>& mine) {
  std::vector<std::string> values;
  values.reserve(mine.size() + 1);
  for (const Trait& trait : mine) values.push_back(trait.value);
  std::uint64_t hash = mine.size();
  for (const std::string& value : values) hash = hash_text(value, hash);
  // Values are long and nearly always the same: they are sent around only where they are not.
  const auto hashes = session.gather_all(std::as_bytes(std::span(&hash, 1)), patience);
  if (std::all_of(hashes.begin(), hashes.end(), [&](const auto& other) { return other == hashes.front(); })) return;
  values.insert(values.begin(), host_name());
  const std::string difference = difference_of_ranks(mine, texts_of_all(session, values));
  if (!difference.empty()) throw UsageError(difference);
}

}  // namespace dsea
