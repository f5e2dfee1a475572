// Which part of a machine's memory is near what.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dsea {

/// The NUMA nodes that some processors belong to, ascending; none where the system does not say. Thread safe; reads the
/// system at every call. `root` is put in front of the paths of /sys (for tests).
std::vector<int> numa_nodes_of_cpus(std::span<const int> cpus, const std::string& root = "");

/// The NUMA node of a PCI device, by an address such as "0000:3b:00.0" in either case of letters; nothing where the
/// system does not say.
std::optional<int> numa_node_of_pci(const std::string& address, const std::string& root = "");

/// The NUMA node of a device, by its folder in /sys.
std::optional<int> numa_node_of_device(const std::string& folder);

}  // namespace dsea
