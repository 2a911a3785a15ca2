// Why: in YAML a few hundred bytes can stand for gigabytes, so that neither anchors nor aliases are
// read, and no more than so many values within so many lists. The parser's events become a tree.
#include "topologies/import/yaml.hpp"

#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

class YamlTree : public YAML::EventHandler {
public:
  explicit YamlTree(TreePlace file) : file_(std::move(file)) {}

  [[nodiscard]] TreeNode take() { return std::move(root_); }
  [[nodiscard]] TreePlace place(const YAML::Mark& mark) const {
    if (mark.is_null()) return file_;
    return {file_.source, mark.line + 1, mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw place(mark).error("a second document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(node(TreeNode::Kind::nothing, mark, anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw place(mark).error("aliases aren't read");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& text) override {
    add(node(TreeNode::Kind::text, mark, anchor, text));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(node(TreeNode::Kind::list, mark, anchor));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(node(TreeNode::Kind::object, mark, anchor));
  }
  void OnMapEnd() override { close(); }

private:
  [[nodiscard]] TreeNode node(TreeNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor,
                              std::string text = "") {
    constexpr std::size_t most_values = 3'000'000;
    const TreePlace at = place(mark);
    if (anchor != 0) throw at.error("anchors aren't read");
    if (++values_ > most_values) throw at.error(fmt::format("more than {} values", most_values));
    return {kind, std::move(text), at.line, at.column};
  }
  [[nodiscard]] InputError error(const TreeNode& node, const std::string& message) const {
    return TreePlace{file_.source, node.line, node.column}.error(message);
  }
  void add(TreeNode done) {
    if (open_.empty())
      root_ = std::move(done);
    else
      open_.back().items.push_back(std::move(done));
  }
  void open(TreeNode begun) {
    if (open_.size() >= most_tree_depth)
      throw error(begun, fmt::format("lists and keys within {} others", most_tree_depth));
    open_.push_back(std::move(begun));
  }
  void close() {
    TreeNode done = std::move(open_.back());
    open_.pop_back();
    std::set<std::string_view> keys;
    for (std::size_t i = 0; done.kind == TreeNode::Kind::object && i < done.items.size(); i += 2)
      if (const TreeNode& key = done.items[i]; !keys.insert(key.text).second)
        throw error(key, fmt::format("the key {} stands twice", short_quote(key.text)));
    add(std::move(done));
  }

  TreePlace file_;
  std::size_t documents_ = 0, values_ = 0;
  std::vector<TreeNode> open_;
  TreeNode root_;
};

} // namespace

TreeValue parse_yaml(std::string_view content, const std::string& source) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  const TreePlace file{std::make_shared<const std::string>(source)};
  if (content.size() > most_bytes)
    throw file.error(fmt::format("{} bytes of YAML (at most 16 MiB)", content.size()));
  if (first_no_text(content) != std::string_view::npos) throw file.error("no text in UTF-8");
  YamlTree tree(file);
  try {
    std::istringstream stream{std::string(content)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(tree)) continue;
  } catch (const YAML::Exception& e) {
    throw tree.place(e.mark).error(e.msg);
  }
  return {source, tree.take()};
}

} // namespace tutti::topologies
