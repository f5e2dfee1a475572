#include "kernels/md/pair/pair_settings.hpp"

#include <cmath>

#include "dsea/base/text.hpp"
#include "kernels/md/settings.hpp"

namespace dsea::md {

PairSettings::PairSettings(const Config& config, std::string section, int types)
    : config_(config), section_(std::move(section)), types_(types) {
  for (int a = 1; a <= most_types; ++a) {
    for (int b = 1; b <= most_types; ++b) {
      const std::string pair = cat(section_, ".", a, "-", b);
      if ((a < b && b <= types) || !config_.in_file(pair)) continue;
      if (a > types || b > types) {
        config_.fail(pair, cat("there is no type ", std::max(a, b), ": the start has ", types));
      }
      config_.fail(pair,
                   a == b ? cat("what a type has to do with itself is number ", a, " of the lists in [", section_, "]")
                          : cat("the smaller type comes first: call it [", section_, ".", b, "-", a, "]"));
    }
  }
}

double PairSettings::of_type(const std::string& key, double fallback, const NumberRange& range, int type) const {
  const std::string path = section_ + "." + key;
  const auto values = config_.get<std::vector<double>>(path, {fallback}, range);
  if (values.size() == 1) return values[0];
  if (static_cast<int>(values.size()) != types_) {
    config_.fail(path, cat("has ", values.size(), " numbers for ", types_, types_ == 1 ? " type" : " types",
                           ": give one number for each type, or one for all"));
  }
  return values[static_cast<std::size_t>(type - 1)];
}

std::optional<double> PairSettings::of_pair(const std::string& key, const NumberRange& range, int a, int b) const {
  if (a == b) return std::nullopt;
  const std::string section = cat(section_, ".", std::min(a, b), "-", std::max(a, b));
  if (!config_.has(section)) return std::nullopt;
  return config_.find<double>(section + "." + key, range);
}

double PairSettings::mixed_geometric(const std::string& key, double fallback, const NumberRange& range, int a,
                                     int b) const {
  const double own = of_type(key, fallback, range, a);
  const double other = of_type(key, fallback, range, b);
  return of_pair(key, range, a, b).value_or(a == b ? own : std::sqrt(own * other));
}

double PairSettings::mixed_arithmetic(const std::string& key, double fallback, const NumberRange& range, int a,
                                      int b) const {
  const double own = of_type(key, fallback, range, a);
  const double other = of_type(key, fallback, range, b);
  return of_pair(key, range, a, b).value_or(a == b ? own : 0.5 * (own + other));
}

}  // namespace dsea::md
