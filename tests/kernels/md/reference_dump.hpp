// Reads LAMMPS dumps, any columns: by id, value by column name. For tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace dsea::md::test {

struct ReferenceDump {
  std::int64_t step = -1;
  std::string bounds;                                           ///< "pp pp pp"
  std::string columns;                                          ///< as in the file
  std::map<std::int64_t, std::map<std::string, double>> atoms;  ///< id -> column -> value

  explicit ReferenceDump(const std::string& path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot open " + path);
    std::string line;
    std::int64_t expected = -1;
    while (std::getline(in, line)) {
      if (line == "ITEM: TIMESTEP") {
        in >> step;
      } else if (line == "ITEM: NUMBER OF ATOMS") {
        in >> expected;
      } else if (line.rfind("ITEM: BOX BOUNDS ", 0) == 0) {
        bounds = line.substr(17);
      } else if (line.rfind("ITEM: ATOMS ", 0) == 0) {
        columns = line.substr(12);
        read_atoms(in);
      }
    }
    if (expected != static_cast<std::int64_t>(atoms.size())) throw std::runtime_error("wrong count in " + path);
  }

 private:
  void read_atoms(std::istream& in) {
    std::vector<std::string> names;
    std::istringstream header(columns);
    for (std::string name; header >> name;) names.push_back(name);
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::map<std::string, double> atom;
      for (const std::string& name : names) {
        std::string word;
        words >> word;
        atom[name] = std::strtod(word.c_str(), nullptr);
      }
      atoms[static_cast<std::int64_t>(atom["id"])] = atom;
    }
  }
};

}  // namespace dsea::md::test
