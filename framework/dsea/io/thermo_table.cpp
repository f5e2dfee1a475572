#include "dsea/io/thermo_table.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "dsea/base/check.hpp"
#include "dsea/base/error.hpp"

namespace dsea {
namespace {

constexpr int width = 15;

std::string padded(const std::string& text, int columns) {
  const auto size = static_cast<std::size_t>(columns);
  return text.size() >= size ? text : std::string(size - text.size(), ' ') + text;
}

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

ThermoTable::ThermoTable(std::ostream& screen, const std::string& path, std::vector<std::string> columns)
    : screen_(screen), path_(path), columns_(std::move(columns)), file_(path) {
  if (!file_) {
    throw UsageError(cat("cannot write ", path, ": ", std::strerror(errno), ": choose another folder by --out"));
  }
  file_ << "Step";
  screen_ << padded("Step", 10);
  for (const std::string& c : columns_) {
    file_ << ',' << c;
    screen_ << ' ' << padded(c, width);
  }
  file_ << '\n';
  screen_ << std::endl;
}

void ThermoTable::row(std::int64_t step, const std::vector<double>& values) {
  DSEA_CHECK_EQ(values.size(), columns_.size(), "row() must give one number a column");
  file_ << step;
  screen_ << padded(std::to_string(step), 10);
  for (const double v : values) {
    file_ << ',' << number("%.17g", v);
    screen_ << ' ' << padded(number("%.8g", v), width);
  }
  file_ << std::endl;
  screen_ << std::endl;
  if (!file_) throw RunError(cat("cannot write ", path_, ": ", std::strerror(errno), ": is the disk full?"));
}

}  // namespace dsea
