// "Did you mean ...?": the nearest of a list of words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dsea {

/// Least number of insertions, deletions, replacements and swaps of neighbouring characters that turn `a` into `b`
/// (optimal string alignment); upper and lower case are the same. O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word nearest to `word`, the first in the list of equally near ones; empty if none is near enough to be a likely
/// slip of the fingers (more than a third of the letters differ).
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace dsea
