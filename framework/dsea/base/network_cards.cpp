#include "dsea/base/network_cards.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "dsea/base/numa.hpp"
#include "dsea/base/system_files.hpp"
#include "dsea/base/text.hpp"

namespace dsea {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

/// The number that a file begins with, 0 if it does not or cannot be read, as the speed of a card that is down.
double leading_number(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value && value > 0 ? value : 0;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// A rail may be named with its port or without.
bool is_rail(std::span<const std::string> rails, const std::string& name) {
  return std::any_of(rails.begin(), rails.end(), [&](const std::string& rail) {
    return rail == name || (rail.find(':') == std::string::npos && name.starts_with(rail + ":"));
  });
}

/// "4: ACTIVE" -> "active".
std::string state_word(const std::string& line) {
  const std::size_t colon = line.find(": ");
  std::string word = colon == std::string::npos ? line : line.substr(colon + 2);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return word;
}

}  // namespace

std::vector<NetworkCard> network_cards(std::span<const std::string> rails, const std::string& root) {
  std::vector<NetworkCard> real, ends;
  const std::string infiniband = root + "/sys/class/infiniband/";
  for (const std::string& device : names_in_folder(infiniband)) {
    for (const std::string& port : names_in_folder(cat(infiniband, device, "/ports"))) {
      const std::string folder = cat(infiniband, device, "/ports/", port);
      const std::string name = cat(device, ":", port);
      real.push_back({name, state_word(first_line(folder + "/state")), leading_number(folder + "/rate"),
                      numa_node_of_device(cat(infiniband, device, "/device")), is_rail(rails, name)});
    }
  }
  bool any_real = !real.empty();
  const std::string net = root + "/sys/class/net/";
  for (const std::string& name : names_in_folder(net)) {
    const std::string folder = net + name;
    if (!is_there(folder + "/operstate")) continue;  // no device, but a file of the bonding driver
    const std::string state = state_word(first_line(folder + "/operstate"));
    const NetworkCard card{name, state, leading_number(folder + "/speed") / 1000,
                           numa_node_of_device(folder + "/device"), is_rail(rails, name)};
    constexpr double ethernet = 1;  // ARPHRD_ETHER; the loopback device has another
    const bool cable = leading_number(folder + "/type") == ethernet && !is_there(folder + "/bridge") && state == "up";
    const bool has_device = is_there(folder + "/device");
    any_real = any_real || has_device;
    if (card.rail || (has_device && !is_there(folder + "/device/infiniband"))) {
      real.push_back(card);
    } else if (cable && !has_device) {
      ends.push_back(card);
    }
  }
  if (!any_real) real.insert(real.end(), ends.begin(), ends.end());
  std::sort(real.begin(), real.end(), [](const NetworkCard& a, const NetworkCard& b) { return a.name < b.name; });
  return real;
}

std::string network_cards_text(std::span<const NetworkCard> cards) {
  if (cards.empty()) return "-";
  return joined(cards, ", ", [](const NetworkCard& card) {
    std::string text = cat(card.name, card.state.empty() ? "" : " ", card.state);
    if (card.gbit > 0) text += cat(" ", si_text(card.gbit), " Gbit/s");
    if (card.numa_node) text += cat(" numa ", *card.numa_node);
    if (card.rail) text += " (rail)";
    return text;
  });
}

}  // namespace dsea
