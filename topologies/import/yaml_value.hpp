// Files in YAML, whose values know where they stand.
#pragma once

#include "sim/error.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

struct YamlPlace {
  std::shared_ptr<const std::string> source;
  int line = 0, column = 0; ///< 0: the whole file

  /// "SOURCE:LINE:COLUMN: message".
  [[nodiscard]] InputError error(const std::string& message) const;
};

struct YamlValue {
  enum class Kind : std::uint8_t { nothing, word, list, keys };
  Kind kind = Kind::nothing;
  std::string text;
  YamlPlace at;
  std::vector<YamlValue> items; ///< for keys: a key, its value, the next key, ...

  [[nodiscard]] InputError error(const std::string& message) const { return at.error(message); }
  /// The text of a word that isn't empty. Errors: InputError with the place, also for those below.
  [[nodiscard]] const std::string& word() const;
  /// A finite number.
  [[nodiscard]] long double number() const;
  [[nodiscard]] std::span<const YamlValue> list() const;
  [[nodiscard]] bool has_key(std::string_view key) const;
  /// The same for the same content, wherever it stands.
  [[nodiscard]] std::string content() const;
};

/// What stands under keys that are known.
class YamlFields {
public:
  /// `value` must outlive this. Errors: InputError for no keys, for others, and for one that stands
  /// twice.
  YamlFields(const YamlValue& value, const std::vector<std::string>& known);

  /// Null where the key isn't there, or has no value.
  [[nodiscard]] const YamlValue* find(std::string_view key) const;
  /// Errors: InputError where there is none.
  [[nodiscard]] const YamlValue& need(std::string_view key) const;
  /// Empty where the key isn't there. Errors: InputError where it has another value.
  [[nodiscard]] std::span<const YamlValue> list(std::string_view key) const;

private:
  const YamlValue& value_;
  std::map<std::string_view, const YamlValue*> values_;
};

/// The one document of a file. Errors: InputError with the place; too much of anything, anchors and
/// aliases, too.
[[nodiscard]] YamlValue parse_yaml(std::string_view content, const std::string& source);

} // namespace tutti::topologies
