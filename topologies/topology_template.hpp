// Parameters of a topology file, and tables in it that stand for many.
#pragma once

#include "sim/expressions/value.hpp"
#include "sim/files/config.hpp"
#include "sim/topology.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// `[template]` names parameters with their values, `for = {i = 4}` in a table of an array makes it
/// four tables, with i from 0 to 3; texts have both in ${...}, as expressions.
class TopologyTemplate {
public:
  /// Errors: InputError with the place for what can't be a name, or is one twice.
  explicit TopologyTemplate(const ConfigTable& root);

  /// Names of the parameters, in the order of the file.
  [[nodiscard]] const std::vector<std::string>& parameters() const { return parameters_; }
  /// Gives a parameter another value than the file's. Errors: InputError for another kind of value.
  /// Pre: there is one of this name.
  void set(const std::string& parameter, std::string_view text);

  /// The file with values in its texts, but for those that depend on a `for`. Errors: InputError
  /// with the place.
  [[nodiscard]] ConfigTable filled(const ConfigTable& root) const;
  /// Calls `body` with each table that one of filled() stands for. Errors: InputError with the
  /// place, also for more than a million.
  void for_each(ConfigTable table, const std::function<void(ConfigTable&)>& body) const;

private:
  using Values = std::map<std::string, Value, std::less<>>;
  struct Repeats;
  void add_name(const std::string& name, const ConfigTable& table);
  [[nodiscard]] std::optional<ConfigScalar> value_for(const std::string& text,
                                                      const Values& values) const;
  void repeat(const ConfigTable& table, Repeats& repeats, std::size_t level) const;

  std::vector<std::string> parameters_;
  std::vector<std::string> names_; ///< of parameters and of what counts in a `for`
  Values values_;                  ///< of parameters
};

/// The network of a topology file with these values. `name`: where it has none. Errors: InputError
/// with the place.
[[nodiscard]] Topology topology_of(const ConfigTable& root, const TopologyTemplate& values,
                                   const std::string& name);

} // namespace tutti::topologies
