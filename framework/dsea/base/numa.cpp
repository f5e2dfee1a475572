#include "dsea/base/numa.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "dsea/base/range_list.hpp"

namespace dsea {

std::vector<int> numa_nodes_of_cpus(std::span<const int> cpus, const std::string& root) {
  std::vector<int> nodes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/devices/system/node", ignored)) {
    const std::string name = entry.path().filename().string();
    int node = 0;
    if (!name.starts_with("node") ||
        std::from_chars(name.data() + 4, name.data() + name.size(), node).ec != std::errc()) {
      continue;
    }
    std::string list;
    std::getline(std::ifstream(entry.path() / "cpulist"), list);
    const std::vector<int> here = parse_range_list(list);
    const auto is_here = [&](int cpu) { return std::find(here.begin(), here.end(), cpu) != here.end(); };
    if (std::any_of(cpus.begin(), cpus.end(), is_here)) nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::optional<int> numa_node_of_pci(const std::string& address, const std::string& root) {
  std::string folder = address;
  std::transform(folder.begin(), folder.end(), folder.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c); });
  return numa_node_of_device(root + "/sys/bus/pci/devices/" + folder);
}

std::optional<int> numa_node_of_device(const std::string& folder) {
  std::ifstream file(folder + "/numa_node");
  int node = -1;  // what the kernel says where there is only one
  if (file >> node && node >= 0) return node;
  return std::nullopt;
}

}  // namespace dsea
