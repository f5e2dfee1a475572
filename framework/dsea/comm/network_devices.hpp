// The network devices of this machine and their addresses.
#pragma once

#include <string>
#include <vector>

namespace dsea {

/// An address of a device that is up. Link-local ones are left out: they mean nothing to another machine.
struct DeviceAddress {
  std::string device;   ///< "eth0"
  std::string address;  ///< "10.0.0.1", "fd00::1"
  bool loopback = false;
};

/// In the order of the system, IPv4 before IPv6. Throws RunError if the system does not say.
std::vector<DeviceAddress> device_addresses();

/// The addresses by which others should reach this machine for control, best first, loopback last. `device`: "auto", or
/// the one to use, for which UsageError names those there are if it is none of them. Otherwise devices that carry data
/// come after the others; if it is not known which do, the device that has one of the addresses `of_host` comes first.
std::vector<DeviceAddress> control_addresses(std::vector<DeviceAddress> all, const std::string& device,
                                             const std::vector<std::string>& data_devices,
                                             const std::vector<std::string>& of_host);

/// What the host name resolves to; may take as long as the name service takes. Empty if it does not resolve.
std::vector<std::string> host_addresses();

/// Throws UsageError as control_addresses() does.
void check_control_device(const std::string& device);

/// The network devices behind `rails`, which name devices of the network ("eth0") or adapters ("mlx5_0:1").
std::vector<std::string> rail_devices(const std::vector<std::string>& rails, const std::string& root = "");

/// Physical devices, and those of `watched`, that are down or have no carrier. `root` is put in front of /sys (for
/// tests).
std::vector<std::string> devices_down(const std::vector<std::string>& watched, const std::string& root = "");

}  // namespace dsea
