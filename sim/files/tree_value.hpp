// Documents of other programs, in JSON or YAML, as values that know where they stand, so that what
// is wrong with one is named by that.
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

/// What a parser finds: a value with all that is in it.
struct TreeNode {
  enum class Kind : std::uint8_t { nothing, boolean, integer, number, text, list, object };
  Kind kind = Kind::nothing;
  std::string text = {}; ///< of all but lists and objects, as it is written
  int line = 0, column = 0;
  std::vector<TreeNode> items = {}; ///< of an object: a key, its value, the next key, ...
};

struct TreePlace {
  std::shared_ptr<const std::string> source;
  int line = 0, column = 0; ///< 0: the whole file

  /// "SOURCE:LINE:COLUMN: message".
  [[nodiscard]] InputError error(const std::string& message) const;
};

/// A value of a document. Cheap to copy; keeps the document.
class TreeValue {
public:
  [[nodiscard]] bool is_null() const { return node_->kind == TreeNode::Kind::nothing; }
  [[nodiscard]] bool is_integer() const { return node_->kind == TreeNode::Kind::integer; }
  [[nodiscard]] bool is_string() const { return node_->kind == TreeNode::Kind::text; }
  [[nodiscard]] bool is_list() const { return node_->kind == TreeNode::Kind::list; }
  [[nodiscard]] bool is_object() const { return node_->kind == TreeNode::Kind::object; }

  /// Each throws InputError (place, what was found, what was expected) on another type or range.
  /// YAML has texts only: there, a number is a text that reads as one.
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] const std::string& word() const;                        ///< a text that isn't empty
  [[nodiscard]] const std::string& text() const { return node_->text; } ///< empty of lists, objects
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t low = INT64_MIN,
                                     std::int64_t high = INT64_MAX) const;
  [[nodiscard]] double number(double low = -std::numeric_limits<double>::max(),
                              double high = std::numeric_limits<double>::max()) const;
  [[nodiscard]] long double precise_number() const;
  [[nodiscard]] std::vector<TreeValue> list() const;
  /// What is listed under a key; nothing where none is given.
  [[nodiscard]] std::vector<TreeValue> list(std::string_view key) const;
  [[nodiscard]] std::vector<std::pair<std::string, TreeValue>> members() const;

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::optional<TreeValue> find(std::string_view key) const;
  /// Nothing also where the value is null.
  [[nodiscard]] std::optional<TreeValue> given(std::string_view key) const;
  /// Errors: InputError where the key is missing.
  [[nodiscard]] TreeValue at(std::string_view key) const;
  /// Errors: InputError where it is no object, or has other keys than these.
  void allow_only(const std::vector<std::string>& known) const;

  /// "FILE:LINE:COLUMN: ", of JSON with the path: "FILE:LINE:COLUMN: internode_conn.3: ".
  [[nodiscard]] std::string place() const;
  [[nodiscard]] InputError error(const std::string& message) const;
  [[nodiscard]] TreePlace tree_place() const;
  /// The same for the same content, wherever it stands.
  [[nodiscard]] std::string content() const;

private:
  friend class TreeBuilder;
  struct Document {
    std::shared_ptr<const std::string> source;
    TreeNode root;
    bool has_types; ///< of JSON, whose values also know the path to them
  };
  TreeValue(std::shared_ptr<const Document> document, const TreeNode* node, std::string path)
      : document_(std::move(document)), node_(node), path_(std::move(path)) {}
  [[nodiscard]] InputError expected(std::string_view what) const;
  [[nodiscard]] TreeValue member(std::size_t i) const; ///< of the key that is items[i]
  template <typename Real> [[nodiscard]] Real real() const;

  std::shared_ptr<const Document> document_;
  const TreeNode* node_; ///< in the document
  std::string path_;
};

/// Takes what a parser comes by, one after another. Errors: InputError with the place for lists and
/// objects within more others than a stack may have to hold, and for a key that stands twice.
class TreeBuilder {
public:
  explicit TreeBuilder(const std::string& source)
      : source_(std::make_shared<const std::string>(source)) {}

  [[nodiscard]] TreePlace place(int line, int column) const { return {source_, line, column}; }
  void add(TreeNode node);
  void open(TreeNode node); ///< a list or an object; what comes until it is closed is in it
  void close();
  /// `has_types`: whether a number is no text.
  [[nodiscard]] TreeValue take(bool has_types) &&;

private:
  std::shared_ptr<const std::string> source_;
  std::vector<TreeNode> open_;
  TreeNode root_;
};

/// Comments as in C are left out. Errors: InputError with SOURCE:LINE:COLUMN for malformed JSON;
/// those of TreeBuilder.
[[nodiscard]] TreeValue parse_json(std::string_view text, const std::string& source);

} // namespace tutti
