// An author's file is more than what a parser makes of it: comments, order and blanks. So it is
// taken apart into headers and entries, whose values stay the text that they are, and only tables
// that have an old name are written anew.
#include "experiments/driver/studies/renames.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

struct Renamed {
  std::string_view from, to;
};

/// Of expectations.
constexpr std::array renamed_keys{
    Renamed{"paper", "\"value\", or \"at_most\" and \"at_least\" with the number"},
    Renamed{"mean", "\"summary\": \"geometric_mean\", \"arithmetic_mean\""},
    Renamed{"discipline", "a key of \"of\" and \"over\""},
    Renamed{"policy", "a key of \"of\" and \"over\""},
    Renamed{"algorithm", "a key of \"of\" and \"over\""},
    Renamed{"algorithms", "\"algorithm\" of \"of\""},
    Renamed{"failed_links", "a key of \"of\" and \"over\""},
    Renamed{"from", "\"size\" of \"of\": \"1MB..\""},
    Renamed{"to", "\"size\" of \"of\": \"..4MB\""},
    Renamed{"error_at_most", "summary = \"error\" with \"at_most\""},
    Renamed{"copy_rate_at_least", "metric = \"copy_rate_fraction\" with \"at_least\""}};

/// Of collectives in files.
constexpr std::array renamed_collective_keys{Renamed{"pieces", "chunks_per_shard"},
                                             Renamed{"held_by", "sources"},
                                             Renamed{"wanted_by", "destinations"}};

/// Of expectations and figures.
constexpr std::array renamed_metrics{
    Renamed{"time", "collective_time"},   Renamed{"time", "iteration_time"},
    Renamed{"planned", "planned_time"},   Renamed{"speed", "iterations_per_s"},
    Renamed{"throughput", "items_per_s"}, Renamed{"utilisation", "flops_utilisation"}};

/// A line of its own, or a key with its value, which may have several lines.
struct Item {
  std::string key;           ///< empty: a header, a comment, a blank line
  std::string text;          ///< of an entry all behind the "=", with its comment; else the line
  std::string indent = {};   ///< before the key
  std::string equals = " ="; ///< with the blanks behind the key
};

/// A header with what stands below it.
struct Block {
  std::string header; ///< "training.expect" of "[[training.expect]]"; empty: the top of the file
  std::vector<Item> items;

  [[nodiscard]] Item* find(std::string_view key) {
    const auto found = std::ranges::find(items, key, &Item::key);
    return found == items.end() ? nullptr : &*found;
  }
  /// Takes the entry out.
  std::optional<std::string> take(std::string_view key) {
    const auto found = std::ranges::find(items, key, &Item::key);
    if (found == items.end()) return std::nullopt;
    std::string text = std::move(found->text);
    items.erase(found);
    return text;
  }
};

/// Where a value that begins at `begin` ends: behind the last character of its last line.
/// Pre: well-formed TOML.
std::size_t end_of_value(std::string_view toml, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < toml.size(); ++i) {
    const char c = toml[i];
    if (c == '\n' && depth == 0) return i;
    if (c == '#') { // up to the end of the line
      i = std::min(toml.find('\n', i), toml.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const std::string triple(3, c);
      const bool is_long = toml.substr(i, 3) == triple;
      const std::string_view end = is_long ? std::string_view(triple) : toml.substr(i, 1);
      i += end.size();
      while (i < toml.size() && toml.substr(i, end.size()) != end)
        i += c == '"' && toml[i] == '\\' ? 2 : 1;
      i += end.size() - 1;
    } else {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    }
  }
  return toml.size();
}

/// Where the inline table that is the value ends. Pre: there is one.
std::size_t end_of_table(std::string_view value) {
  for (std::size_t close = value.find('}'); close != std::string_view::npos;
       close = value.find('}', close + 1)) {
    const std::string table = fmt::format("x ={}", value.substr(0, close + 1));
    try {
      static_cast<void>(parse_config(table, ""));
      return close;
    } catch (const InputError&) { // of a brace in a text, or of a table inside
    }
  }
  return value.size();
}

std::vector<Block> blocks_of(std::string_view toml) {
  std::vector<Block> blocks(1);
  for (std::size_t at = 0; at < toml.size();) {
    const std::size_t line_end = std::min(toml.find('\n', at), toml.size());
    const std::string_view line = toml.substr(at, line_end - at), text = trimmed(line);
    const std::size_t equals = line.find('=');
    if (text.starts_with('[')) {
      const std::size_t open = text.find_first_not_of('['), close = text.find(']');
      blocks.push_back({std::string(trimmed(text.substr(open, close - open))), {}});
      blocks.back().items.push_back({"", std::string(line)});
    } else if (text.empty() || text.starts_with('#') || equals == std::string_view::npos) {
      blocks.back().items.push_back({"", std::string(line)});
    } else {
      const std::size_t end = end_of_value(toml, at + equals + 1);
      const std::string_view head = line.substr(0, equals), key = trimmed(head);
      const std::size_t indent = static_cast<std::size_t>(key.data() - head.data());
      blocks.back().items.push_back(
          {std::string(key), std::string(toml.substr(at + equals + 1, end - at - equals - 1)),
           std::string(head.substr(0, indent)),
           std::string(head.substr(indent + key.size())) + "="});
      at = end + 1;
      continue;
    }
    at = line_end + 1;
  }
  return blocks;
}

std::string text_of(std::span<const Block> blocks) {
  std::string text;
  for (const Block& block : blocks)
    for (const Item& item : block.items)
      text +=
          (item.key.empty() ? item.text : item.indent + item.key + item.equals + item.text) + "\n";
  return text;
}

/// Replaces the first `from`, if it is there.
void replace_in(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos)
    text.replace(at, from.size(), to);
}

/// `key` as an entry of the table `table`, inline or dotted.
void add_to(Block& block, const std::string& table, const std::string& key,
            std::string_view value) {
  const std::string entry = fmt::format("{} = {}", key, trimmed(value));
  if (Item* of = block.find(table)) {
    const std::size_t close = end_of_table(of->text);
    const bool is_empty = trimmed(of->text.substr(of->text.find('{') + 1, 1)) == "}";
    of->text.insert(close, (is_empty ? "" : ", ") + entry);
    return;
  }
  const auto dotted = std::ranges::find_if(
      block.items, [&](const Item& item) { return item.key.starts_with(table + "."); });
  if (dotted != block.items.end())
    block.items.insert(dotted, {table + "." + key, " " + std::string(trimmed(value))});
  else // behind the label, or the header
    block.items.insert(block.items.begin() +
                           (block.items.size() > 1 && block.items[1].key == "label" ? 2 : 1),
                       {table, fmt::format(" {{{}}}", entry)});
}

void rename_metric(Block& block) {
  Item* metric = block.find("metric");
  if (metric == nullptr) return;
  const std::string_view text = trimmed(metric->text);
  const std::string name(text.substr(1, text.find('"', 1) - 1));
  if (name.starts_with("exposed:"))
    throw InputError(fmt::format("metric \"{}\" is no more: exposed_{}_fraction is its part of the "
                                 "iteration",
                                 name, name.substr(8)));
  std::vector<std::string> known;
  const bool is_training = block.header == "training.expect";
  for (const Renamed& renamed : renamed_metrics)
    if (renamed.to != (is_training ? "collective_time" : "iteration_time"))
      known.emplace_back(renamed.to);
  std::string now(metric_now(name, known));
  if (name.starts_with("exposed_fraction:"))
    now = fmt::format("exposed_{}_fraction", name.substr(17));
  if (!now.empty()) replace_in(metric->text, "\"" + name + "\"", "\"" + now + "\"");
}

void rename_selectors(Block& block) {
  for (Item& item : block.items) {
    if (item.key == "of.run" || item.key == "over.run") replace_in(item.key, ".run", ".label");
    if (item.key != "of" && item.key != "over") continue;
    for (const char* before : {"{run ", "{run=", "{ run ", ", run ", ", run="})
      if (item.text.find(before) != std::string::npos) {
        std::string now = before;
        replace_in(now, "run", "label");
        replace_in(item.text, before, now);
      }
  }
}

// `paper` with `at_most` true is `at_most` with the value.
void rename_value(Block& block) {
  Item* paper = block.find("paper");
  if (paper == nullptr) return;
  const Item* at_most = block.find("at_most");
  paper->key =
      at_most != nullptr && trimmed(at_most->text).starts_with("true") ? "at_most" : "value";
  if (at_most == nullptr) return;
  const auto flag = std::ranges::find_if(block.items, [](const Item& item) {
    const std::string_view text = trimmed(item.text);
    return item.key == "at_most" && (text.starts_with("true") || text.starts_with("false"));
  });
  block.items.erase(flag);
}

void update_expectation(Block& block) {
  rename_value(block);
  if (Item* mean = block.find("mean")) {
    mean->key = "summary";
    replace_in(mean->text, "\"geometric\"", "\"geometric_mean\"");
    replace_in(mean->text, "\"arithmetic\"", "\"arithmetic_mean\"");
  }
  rename_metric(block);
  rename_selectors(block);
  if (const auto discipline = block.take("discipline"))
    for (const char* table : {"of", "over"})
      if (table == std::string_view("of") || block.find(table) != nullptr)
        add_to(block, table, "discipline", *discipline);
}

void update_failures(Block& block) {
  if (block.find("policy") == nullptr) return;
  const auto policy = block.take("policy"), over = block.take("over"),
             algorithm = block.take("algorithm"), failed_links = block.take("failed_links");
  if (block.find("label") == nullptr)
    block.items.insert(
        block.items.begin() + 1,
        {"label",
         fmt::format(" \"{} / {}\"", trimmed(*policy).substr(1, trimmed(*policy).size() - 2),
                     over ? trimmed(*over).substr(1, trimmed(*over).size() - 2) : "undisturbed")});
  const bool is_several = !failed_links || trimmed(*failed_links).starts_with('[');
  if (is_several) block.items.insert(block.items.begin() + 2, {"summary", " \"largest\""});
  if (over && !trimmed(*over).starts_with("\"undisturbed\""))
    block.items.insert(block.items.begin() + 2,
                       {"over", fmt::format(" {{policy = {}}}", trimmed(*over))});
  std::string of = fmt::format(" {{policy = {}", trimmed(*policy));
  if (algorithm) of += fmt::format(", algorithm = {}", trimmed(*algorithm));
  if (failed_links) of += fmt::format(", failed_links = {}", trimmed(*failed_links));
  block.items.insert(block.items.begin() + 2, {"of", of + "}"});
  if (Item* value = block.find("value"); value != nullptr && block.find("tolerance") == nullptr)
    block.items.insert(block.items.begin() + (value - block.items.data()) + 1,
                       {"tolerance", " \"0%\""});
}

void update_executions(Block& block) {
  const auto from = block.take("from"), to = block.take("to"),
             algorithms = block.take("algorithms");
  const auto bare = [](const std::string& text) {
    const std::string_view inner = trimmed(text);
    return inner.substr(1, inner.size() - 2);
  };
  if (algorithms) add_to(block, "of", "algorithm", *algorithms);
  if (from || to)
    add_to(block, "of", "size",
           fmt::format("\"{}..{}\"", from ? bare(*from) : "", to ? bare(*to) : ""));
  for (const auto& [key, now, lines] :
       {std::tuple{"error_at_most", "at_most", Item{"summary", " \"error\""}},
        std::tuple{"copy_rate_at_least", "at_least", Item{"summary", " \"largest\""}}}) {
    Item* limit = block.find(key);
    if (limit == nullptr) continue;
    limit->key = now;
    const auto at = block.items.begin() + (limit - block.items.data());
    const auto inserted = block.items.insert(at, lines);
    if (now == std::string_view("at_least"))
      block.items.insert(inserted, {"metric", " \"copy_rate_fraction\""});
  }
}

void update(Block& block) {
  if (block.header == "figures") rename_metric(block);
  if (block.header == "failures.expect") update_failures(block);
  if (block.header == "executions.expect") update_executions(block);
  if (block.header == "expect" || block.header == "training.expect") update_expectation(block);
  for (const Renamed& renamed : renamed_collective_keys)
    if (Item* item = block.find(renamed.from)) item->key = renamed.to;
}

} // namespace

void refuse_renamed(ConfigTable& table) {
  for (const Renamed& renamed : renamed_keys)
    if (table.has(std::string(renamed.from)))
      throw table.at(std::string(renamed.from))
          .error(
              fmt::format("\"{}\" is now {}; `tutti update FILE` changes files of earlier versions",
                          renamed.from, renamed.to));
  if (table.has("at_most"))
    if (const ConfigValue at_most = table.at("at_most"); at_most.is_boolean())
      throw at_most.error(
          "\"at_most\" is now the limit itself; `tutti update FILE` changes files of "
          "earlier versions");
}

std::string_view metric_now(std::string_view metric, std::span<const std::string> known) {
  for (const Renamed& renamed : renamed_metrics)
    if (renamed.from == metric && std::ranges::find(known, renamed.to) != known.end())
      return renamed.to;
  return {};
}

std::string updated_toml(std::string_view toml, const std::string& source_name) {
  static_cast<void>(parse_config(toml, source_name)); // what isn't TOML is refused there
  std::vector<Block> blocks = blocks_of(toml);
  for (Block& block : blocks) try {
      update(block);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: [[{}]]: {}", source_name, block.header, error.what()));
    }
  std::string text = text_of(blocks);
  if (!toml.ends_with('\n') && text.ends_with('\n')) text.pop_back();
  static_cast<void>(parse_config(text, source_name)); // a defect of ours must not spoil a file
  return text;
}

} // namespace tutti
