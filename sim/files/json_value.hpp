// JSON documents of other programs as values that know their path, so that what is wrong with one
// is named by where it is: "FILE: internode_sketch.internode_conn.3: ...".
#pragma once

#include "sim/error.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// A value of a JSON document. Cheap to copy; keeps the document.
class JsonValue {
public:
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_object() const;

  /// Each throws InputError (place, what was found, what was expected) on another type or range.
  [[nodiscard]] std::string string() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t low = INT64_MIN,
                                     std::int64_t high = INT64_MAX) const;
  [[nodiscard]] double number(double low = -std::numeric_limits<double>::max(),
                              double high = std::numeric_limits<double>::max()) const;
  [[nodiscard]] std::vector<JsonValue> list() const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const; ///< by key

  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] std::optional<JsonValue> find(const std::string& key) const;
  /// Errors: InputError where the key is missing.
  [[nodiscard]] JsonValue at(const std::string& key) const;
  /// Errors: InputError where it is no object, or has other keys than these.
  void allow_only(const std::vector<std::string>& known) const;

  /// "FILE: PATH: ", or "FILE: " of the whole document.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] InputError error(const std::string& message) const;

private:
  friend JsonValue parse_json(std::string_view, const std::string&);
  struct Document;
  JsonValue(std::shared_ptr<const Document> document, const void* node, std::string path)
      : document_(std::move(document)), node_(node), path_(std::move(path)) {}
  [[nodiscard]] InputError expected(std::string_view what) const;
  [[nodiscard]] JsonValue member(const std::string& key) const;

  std::shared_ptr<const Document> document_;
  const void* node_; ///< the library's value, in the document
  std::string path_;
};

/// Comments as in C are left out. Errors: InputError with SOURCE:LINE:COLUMN for malformed JSON,
/// and for a key that stands twice in one object.
[[nodiscard]] JsonValue parse_json(std::string_view text, const std::string& source);

} // namespace tutti
