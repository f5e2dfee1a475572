// What the configuration says about pairs of types, in the section of a pair law.
//
//   [lj]
//   epsilon = [1.0, 0.5]        # of types 1 and 2; or one number for all types
//   sigma = 1.0
//   [lj.1-2]                    # of a pair of unlike types, where it does not follow from the rules below
//   epsilon = 0.9
//
// A pair of unlike types without a section of its own gets the geometric mean of energies and the arithmetic mean of
// lengths (the rules of Lorentz and Berthelot).
#pragma once

#include <string>

#include "dsea/base/config.hpp"

namespace dsea::md {

class PairSettings {
 public:
  /// Throws UsageError for sections of pairs that cannot be: of a type with itself, of types that are not there.
  PairSettings(const Config& config, std::string section, int types);

  /// The number of a pair of types (from 1, in any order). Throws UsageError that names the key.
  double mixed_geometric(const std::string& key, double fallback, const NumberRange& range, int a, int b) const;
  double mixed_arithmetic(const std::string& key, double fallback, const NumberRange& range, int a, int b) const;
  bool flag(const std::string& key, bool fallback) const { return config_.get<bool>(section_ + "." + key, fallback); }

  int types() const { return types_; }

 private:
  double of_type(const std::string& key, double fallback, const NumberRange& range, int type) const;
  std::optional<double> of_pair(const std::string& key, const NumberRange& range, int a, int b) const;

  Config config_;
  std::string section_;
  int types_;
};

}  // namespace dsea::md
