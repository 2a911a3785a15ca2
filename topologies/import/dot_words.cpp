// Why: Boost's parser of Graphviz's language knows no places, copies defaults into every edge and
// crosses groups without a limit, so that a few lines make as many links as they like. So it gets
// the words of the file by their numbers, and only where what it makes of them stays in bounds:
// the same groups, links and defaults are counted here beforehand, without making them.
//
// What it reads in another way than Graphviz is refused (links to or from braces with links in
// them) or put differently (a brace alone becomes a subgraph).
// Source: Boost 1.74, libs/graph/src/read_graphviz_new.cpp.
#include "topologies/import/dot_words.hpp"

#include "topologies/import/graph_meaning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace tutti::topologies {

namespace {

class DotWordMaker {
public:
  DotWordMaker(std::string_view content, const TextPlaces& places)
      : content_(content), places_(places) {}

  DotWords make() {
    read_tokens();
    number_tokens();
    return {std::move(tokens_), std::move(words_), std::move(unknown_), is_digraph_, is_strict_};
  }

private:
  void read_tokens() {
    constexpr std::size_t most_tokens = 4'000'000;
    DotLexer lexer(content_, places_);
    do {
      tokens_.push_back(lexer.next());
      if (tokens_.size() > most_tokens)
        throw places_.error(tokens_.back().at, fmt::format("more than {} words", most_tokens));
    } while (tokens_.back().kind != DotKind::end);
  }

  /// One end of a link: a node, or a group in braces.
  struct DotEnd {
    std::size_t nodes = 0;          ///< at most
    bool is_open = false;           ///< it has a named group, which may have grown elsewhere
    bool has_links = false;         ///< its links have ends that Boost takes for no members of it
    const DotToken* node = nullptr; ///< null for groups
  };
  struct DotGroup {
    DotEnd inside, left;
    bool is_named = false, is_linking = false; ///< after a "--"
    std::size_t statement_links = 0;
  };

  [[nodiscard]] InputError error(const DotToken& token, std::string_view message) const {
    return places_.error(token.at, message);
  }

  void spend(std::size_t units, const DotToken& token) {
    constexpr std::size_t most = 8'000'000; // some 100 bytes each
    spent_ += std::min(units, most + 1);
    if (spent_ > most)
      throw error(token, "groups and defaults make more links and attributes of this than fit");
  }

  void end_found(DotEnd end, const DotToken& token) {
    DotGroup& group = groups_.back();
    if (group.is_linking) {
      for (const DotEnd& side : {group.left, end})
        if (side.has_links)
          throw error(token, "a link to or from braces with links in them: write these apart");
      if (group.left.node != nullptr && end.node != nullptr &&
          group.left.node->text == end.node->text)
        throw error(*group.left.node,
                    fmt::format("a link from {} to itself", short_quote(end.node->text)));
      const auto size = [&](const DotEnd& side) {
        return std::max<std::size_t>(side.is_open ? std::max(side.nodes, mentions_) : side.nodes,
                                     1);
      };
      const std::size_t links = size(group.left) * size(end);
      spend(links * (4 + edge_defaults_), token);
      group.statement_links += links;
      group.inside.has_links = true;
    } else {
      group.statement_links = 0;
    }
    group.is_linking = false;
    group.inside.nodes += end.nodes;
    group.inside.is_open |= end.is_open;
    group.inside.has_links |= end.has_links;
    group.left = end;
  }

  /// The number of a name: where it first stands, so that the same names stay the same.
  std::size_t number_of(char realm, std::size_t token) {
    return first_.emplace(realm + tokens_[token].text, token).first->second;
  }
  void pass(std::size_t token, std::string text) { words_.emplace_back(std::move(text), token); }
  void pass_number(std::size_t token, std::size_t number) {
    pass(token, fmt::format("{}", number));
  }

  /// The words for Boost: marks and keywords as they are, others as numbers. Attributes that
  /// nobody asks for are left out.
  void number_tokens() {
    bool has_graph = false;
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      const DotToken& token = tokens_[t];
      switch (token.kind) {
      case DotKind::end: return;
      case DotKind::strict:
        // Boost would drop a second link between two nodes; here it is refused.
        if (t == 0)
          is_strict_ = true;
        else
          pass(t, token.text);
        break;
      case DotKind::graph:
      case DotKind::digraph:
        if (!has_graph) {
          has_graph = true;
          is_digraph_ = token.kind == DotKind::digraph;
          pass(t, token.text);
          if (tokens_[t + 1].kind == DotKind::id) pass_number(t + 1, t + 1), ++t;
          break;
        }
        [[fallthrough]];
      case DotKind::node:
      case DotKind::edge:
        pass(t, token.text);
        if (!groups_.empty()) groups_.back().is_linking = false, groups_.back().left = {};
        if (tokens_[t + 1].is('[')) t = attributes(t + 1, &token);
        break;
      case DotKind::subgraph: t = subgraph(t); break;
      case DotKind::id: t = name(t); break;
      case DotKind::link:
        pass(t, token.text);
        if (!groups_.empty()) groups_.back().is_linking = true;
        break;
      case DotKind::mark: t = mark(t); break;
      }
    }
  }

  std::size_t subgraph(std::size_t t) {
    pass(t, "subgraph");
    if (tokens_[t + 1].kind != DotKind::id) return t;
    ++t;
    pass_number(t, number_of('s', t));
    if (groups_.empty()) return t;
    if (!tokens_[t + 1].is('{'))
      end_found({0, true, linked_groups_.contains(tokens_[t].text), nullptr}, tokens_[t]);
    return t;
  }

  std::size_t name(std::size_t t) {
    if (groups_.empty()) { // out of place; Boost will say so
      pass_number(t, t);
      return t;
    }
    if (tokens_[t + 1].is('=')) { // an attribute of the graph
      if (!is_known_attribute(tokens_[t].text)) unknown_.insert(short_quote(tokens_[t].text));
      pass_number(t, number_of('k', t));
      pass(t + 1, "=");
      if (tokens_[t + 2].kind != DotKind::id) return t + 1;
      pass_number(t + 2, t + 2);
      return t + 2;
    }
    pass_number(t, number_of('n', t));
    ++mentions_;
    spend(1 + node_defaults_, tokens_[t]);
    const std::size_t node = t;
    while (tokens_[t + 1].is(':') && tokens_[t + 2].kind == DotKind::id) t += 2; // ports
    end_found({1, false, false, &tokens_[node]}, tokens_[node]);
    return t;
  }

  std::size_t mark(std::size_t t) {
    const DotToken& token = tokens_[t];
    constexpr std::size_t deepest = 100;
    if (token.is('[')) return attributes(t, t > 0 && tokens_[t - 1].is(']') ? list_of_ : nullptr);
    const auto was = [&](std::size_t back, DotKind kind) {
      return t >= back && tokens_[t - back].kind == kind;
    };
    const bool is_named = was(1, DotKind::id) && was(2, DotKind::subgraph);
    if (token.is('{') && !groups_.empty() && !is_named && !was(1, DotKind::subgraph))
      pass(t, "subgraph"); // Boost 1.74 takes no brace alone, though it means to
    pass(t, token.text);
    if (token.is('{')) {
      if (groups_.size() == deepest)
        throw error(token, fmt::format("more than {} braces within each other", deepest));
      if (!groups_.empty())
        spend(groups_.back().inside.nodes / 16 + edge_defaults_ + node_defaults_ + 1,
              token); // copied by Boost
      groups_.emplace_back();
      groups_.back().is_named = is_named;
      if (is_named) names_.push_back(&tokens_[t - 1].text);
    } else if (token.is('}') && !groups_.empty()) {
      DotEnd group = groups_.back().inside;
      group.node = nullptr;
      if (groups_.back().is_named) {
        group.is_open = true;
        if (group.has_links) linked_groups_.insert(*names_.back());
        group.has_links = linked_groups_.contains(*names_.back());
        names_.pop_back();
      }
      groups_.pop_back();
      if (!groups_.empty()) end_found(group, token);
    } else if (token.is(';') && !groups_.empty()) {
      groups_.back().is_linking = false;
    }
    return t;
  }

  /// `[a=b, c=d]` from its bracket on; the last token of it. `of`: whose defaults; null: those of
  /// the node or link before. What is no such list is left to Boost.
  std::size_t attributes(std::size_t t, const DotToken* of) {
    pass(t, "[");
    list_of_ = of; // several lists may follow each other
    std::size_t count = 0;
    for (++t; tokens_[t].kind == DotKind::id; ++t) {
      const bool has_value = tokens_[t + 1].is('=') && tokens_[t + 2].kind == DotKind::id;
      if (tokens_[t + 1].is('=') && !has_value) break;
      if (is_known_attribute(tokens_[t].text)) {
        ++count;
        pass_number(t, number_of('k', t));
        if (has_value) {
          pass(t + 1, "=");
          pass_number(t + 2, t + 2);
        }
      } else {
        unknown_.insert(short_quote(tokens_[t].text));
      }
      if (has_value) t += 2;
      if (tokens_[t + 1].is(',') || tokens_[t + 1].is(';')) ++t;
    }
    if (of != nullptr && of->kind == DotKind::edge) edge_defaults_ += count;
    if (of != nullptr && of->kind == DotKind::node) node_defaults_ += count;
    if (of == nullptr && !groups_.empty())
      spend(count * std::max<std::size_t>(groups_.back().statement_links, 1), tokens_[t]);
    return t - 1;
  }

  std::string_view content_;
  const TextPlaces& places_;
  std::vector<DotToken> tokens_;                           ///< an end at the end
  std::vector<std::pair<std::string, std::size_t>> words_; ///< for Boost, with their tokens
  std::unordered_map<std::string, std::size_t> first_;     ///< by realm and text
  std::vector<DotGroup> groups_;                           ///< braces that are open
  std::set<std::string> unknown_;
  const DotToken* list_of_ = nullptr;
  std::vector<const std::string*> names_;         ///< of open braces that have one
  std::unordered_set<std::string> linked_groups_; ///< named ones with links in them
  std::size_t mentions_ = 0, edge_defaults_ = 0, node_defaults_ = 0, spent_ = 0;
  bool is_digraph_ = false, is_strict_ = false;
};

} // namespace

DotWords dot_words(std::string_view content, const TextPlaces& places) {
  return DotWordMaker(content, places).make();
}

} // namespace tutti::topologies
