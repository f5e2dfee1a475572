#include "dsea/base/packed_texts.hpp"

#include <cstdint>
#include <cstring>

namespace dsea {

std::vector<std::byte> pack_texts(std::span<const std::string> texts) {
  std::vector<std::byte> bytes;
  for (const std::string& text : texts) {
    const std::uint64_t length = text.size();
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof length + text.size());
    std::memcpy(bytes.data() + at, &length, sizeof length);
    if (!text.empty()) std::memcpy(bytes.data() + at + sizeof length, text.data(), text.size());
  }
  return bytes;
}

std::vector<std::string> unpack_texts(std::span<const std::byte> bytes) {
  std::vector<std::string> texts;
  std::uint64_t length = 0;
  while (bytes.size() >= sizeof length) {
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes = bytes.subspan(sizeof length);
    if (length > bytes.size()) break;
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), length);
    bytes = bytes.subspan(length);
  }
  return texts;
}

}  // namespace dsea
