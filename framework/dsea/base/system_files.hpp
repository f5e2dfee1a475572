// Reading what the system says of itself in /proc and /sys.
#pragma once

#include <string>
#include <vector>

namespace dsea {

/// Names of a folder's entries, sorted; none if it cannot be read.
std::vector<std::string> names_in_folder(const std::string& folder);

/// The first word of a file; empty if there is none.
std::string first_word_of(const std::string& path);

}  // namespace dsea
