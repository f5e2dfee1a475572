#include "cuda_shim/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <unordered_map>
#include <vector>

namespace shim {

namespace {

/// Address as linked -> mangled name, of every function in the program's full table of symbols. dladdr() would know
/// only those that are exported, and kernels over types of an unnamed namespace never are.
std::unordered_map<std::uintptr_t, std::string> read_symbols() {
  std::unordered_map<std::uintptr_t, std::string> names;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto read = [&file](auto& to, std::uint64_t at) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size() * sizeof(to[0])));
  };
  std::vector<ElfW(Ehdr)> header(1);
  read(header, 0);
  if (!file || header[0].e_shentsize != sizeof(ElfW(Shdr))) return names;
  std::vector<ElfW(Shdr)> sections(header[0].e_shnum);
  read(sections, header[0].e_shoff);
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    std::vector<ElfW(Sym)> symbols(section.sh_size / sizeof(ElfW(Sym)));
    read(symbols, section.sh_offset);
    std::vector<char> text(sections[section.sh_link].sh_size + 1);
    text.pop_back();
    read(text, sections[section.sh_link].sh_offset);
    text.push_back('\0');
    for (const ElfW(Sym) & symbol : symbols) {
      const bool function = (symbol.st_info & 0xf) == STT_FUNC && symbol.st_value != 0;
      if (file && function && symbol.st_name < text.size()) names.emplace(symbol.st_value, &text[symbol.st_name]);
    }
  }
  return names;
}

/// By how much the program was moved when it was loaded.
std::uintptr_t load_offset() {
  std::uintptr_t offset = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
        return 1;  // the first one is the program
      },
      &offset);
  return offset;
}

/// "void ns::kernel<T>(int)" -> "ns::kernel<T>": what stands before the last "(...)", from the last blank outside
/// of brackets on.
std::string without_parameters(const std::string& text) {
  int depth = 0;
  std::size_t end = text.size(), begin = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    const char c = text[i];
    if (c == ')' || c == '>') ++depth;
    if (c == '(' || c == '<') --depth;
    if (depth == 0 && c == '(' && end == text.size()) end = i;
    if (depth == 0 && c == ' ' && i < end) {
      begin = i + 1;
      break;
    }
  }
  return text.substr(begin, end - begin);
}

}  // namespace

std::string kernel_name(const void* function) {
  static const std::unordered_map<std::uintptr_t, std::string> names = read_symbols();
  static const std::uintptr_t offset = load_offset();
  const auto found = names.find(reinterpret_cast<std::uintptr_t>(function) - offset);
  if (found == names.end()) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "at %p", function);
    return digits;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(found->second.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? without_parameters(readable.get()) : found->second;
}

}  // namespace shim
