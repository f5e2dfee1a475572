#include "dsea/comm/network_devices.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "dsea/base/error.hpp"
#include "dsea/base/system_files.hpp"
#include "dsea/base/text.hpp"

namespace dsea {
namespace {

/// The text of an address; empty for other families and for addresses that mean nothing elsewhere.
std::string address_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) return {};
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

bool holds(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

}  // namespace

std::vector<DeviceAddress> device_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw RunError(cat("cannot list network devices: ", std::strerror(errno)));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  std::vector<DeviceAddress> all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const std::string text = address_text(entry->ifa_addr);
    if (text.empty() || (entry->ifa_flags & IFF_UP) == 0) continue;
    all.push_back({entry->ifa_name, text, (entry->ifa_flags & IFF_LOOPBACK) != 0});
  }
  std::ranges::stable_partition(all, [](const DeviceAddress& a) { return a.address.find(':') == std::string::npos; });
  return all;
}

std::vector<DeviceAddress> control_addresses(std::vector<DeviceAddress> all, const std::string& device,
                                             const std::vector<std::string>& data_devices,
                                             const std::vector<std::string>& of_host) {
  if (device != "auto") {
    std::vector<std::string> names;
    for (const DeviceAddress& a : all) {
      if (!holds(names, a.device)) names.push_back(a.device);
    }
    if (!holds(names, device)) {
      throw UsageError(cat("ring.control: this node has no network device '", device,
                           "' that is up and has an address; there are ", joined(names, ", ")));
    }
    std::erase_if(all, [&](const DeviceAddress& a) { return a.device != device; });
    return all;
  }
  std::string named;  // the device of the host's name
  for (const DeviceAddress& a : all) {
    if (named.empty() && !a.loopback && holds(of_host, a.address)) named = a.device;
  }
  const auto order = [&](const DeviceAddress& a) {
    if (a.loopback) return 3;
    if (holds(data_devices, a.device)) return 2;
    return data_devices.empty() && a.device == named ? 0 : 1;
  };
  std::ranges::stable_sort(all, {}, order);
  return all;
}

std::vector<std::string> host_addresses() {
  std::array<char, 256> host{};
  addrinfo* list = nullptr;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (gethostname(host.data(), host.size() - 1) != 0) return {};
  if (getaddrinfo(host.data(), nullptr, &hints, &list) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  std::vector<std::string> all;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    all.push_back(address_text(entry->ai_addr));
  }
  return all;
}

void check_control_device(const std::string& device) {
  if (device != "auto") control_addresses(device_addresses(), device, {}, {});
}

std::vector<std::string> rail_devices(const std::vector<std::string>& rails, const std::string& root) {
  std::vector<std::string> devices;
  for (const std::string& rail : rails) {
    const std::string adapter = rail.substr(0, rail.find(':'));
    const std::vector<std::string> behind = names_in_folder(root + "/sys/class/infiniband/" + adapter + "/device/net");
    devices.insert(devices.end(), behind.begin(), behind.end());
    if (behind.empty()) devices.push_back(rail);
  }
  return devices;
}

std::vector<std::string> devices_down(const std::vector<std::string>& watched, const std::string& root) {
  const std::string folder = root + "/sys/class/net/";
  std::vector<std::string> down;
  for (const std::string& name : names_in_folder(folder)) {
    std::error_code ignored;
    if (!holds(watched, name) && !std::filesystem::exists(folder + name + "/device", ignored)) continue;
    // A device that is switched off has no readable carrier.
    if (first_word_of(folder + name + "/operstate") == "down" || first_word_of(folder + name + "/carrier") == "0") {
      down.push_back(name);
    }
  }
  return down;
}

}  // namespace dsea
