// Numbers as Linux writes sets of processors: "0-7,16".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dsea {

/// Ascending numbers as ranges; "-" if there are none.
std::string range_list_text(std::span<const int> numbers);

/// The numbers of such a list, as they come; what is not understood is left out.
std::vector<int> parse_range_list(std::string_view text);

}  // namespace dsea
