// Names of parameters and derived values: which may be, and which are.
#pragma once

#include "sim/files/config.hpp"

#include <set>
#include <string>
#include <vector>

namespace tutti::sweep {

/// A letter or _, then letters, digits and _.
[[nodiscard]] bool is_identifier(const std::string& text);

/// Small and large letters are the same, as in SQL.
class NameRegister {
public:
  /// The store's own columns are reserved.
  NameRegister();
  /// Names, in small letters, that every point has.
  void reserve(const std::vector<std::string>& names);
  /// Errors: InputError at the value's place for a name that is none, reserved, there already or a
  /// word of expressions.
  void add(const std::string& name, const ConfigValue& value);

private:
  std::set<std::string> reserved_, taken_; ///< in small letters
};

} // namespace tutti::sweep
