// Texts as one row of bytes, for messages between ranks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dsea {

std::vector<std::byte> pack_texts(std::span<const std::string> texts);

/// The other way round; what does not fit the format ends the list.
std::vector<std::string> unpack_texts(std::span<const std::byte> bytes);

}  // namespace dsea
