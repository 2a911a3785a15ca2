// Why: in YAML a few hundred bytes can stand for gigabytes, so that neither anchors nor aliases are
// read, and no more than so many values.
#include "topologies/import/yaml.hpp"

#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <utility>

namespace tutti::topologies {

namespace {

class YamlEvents : public YAML::EventHandler {
public:
  explicit YamlEvents(const std::string& source) : builder_(source) {}

  [[nodiscard]] TreeValue take() { return std::move(builder_).take(false); }
  [[nodiscard]] TreePlace place(const YAML::Mark& mark) const {
    return mark.is_null() ? builder_.place(0, 0) : builder_.place(mark.line + 1, mark.column + 1);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw place(mark).error("a second document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.add(node(TreeNode::Kind::nothing, mark, anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw place(mark).error("aliases aren't read");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& text) override {
    builder_.add(node(TreeNode::Kind::text, mark, anchor, text));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    builder_.open(node(TreeNode::Kind::list, mark, anchor));
  }
  void OnSequenceEnd() override { builder_.close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    builder_.open(node(TreeNode::Kind::object, mark, anchor));
  }
  void OnMapEnd() override { builder_.close(); }

private:
  [[nodiscard]] TreeNode node(TreeNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor,
                              std::string text = "") {
    constexpr std::size_t most_values = 3'000'000;
    const TreePlace at = place(mark);
    if (anchor != 0) throw at.error("anchors aren't read");
    if (++values_ > most_values) throw at.error(fmt::format("more than {} values", most_values));
    return {kind, std::move(text), at.line, at.column};
  }

  TreeBuilder builder_;
  std::size_t documents_ = 0, values_ = 0;
};

} // namespace

TreeValue parse_yaml(std::string_view content, const std::string& source) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  YamlEvents events(source);
  const TreePlace file = events.place(YAML::Mark::null_mark());
  if (content.size() > most_bytes)
    throw file.error(fmt::format("{} bytes of YAML (at most 16 MiB)", content.size()));
  if (first_no_text(content) != std::string_view::npos) throw file.error("no text in UTF-8");
  try {
    std::istringstream stream{std::string(content)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) continue;
  } catch (const YAML::Exception& e) {
    throw events.place(e.mark).error(e.msg);
  }
  return events.take();
}

} // namespace tutti::topologies
