// An author's file is more than what a parser makes of it: comments, order and blanks. So the
// parser only says what stands where; each change is a piece of the text with what replaces it, and
// all else stays as it is.
#include "experiments/driver/studies/renames.hpp"

#include "experiments/driver/studies/experiment.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::string_view advice = "`tutti update FILE` changes files of earlier versions";

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

/// Of results in sweeps' objectives: of training, of all.
constexpr std::array renamed_training_results{Renamed{"time_s", "iteration_time_s"},
                                              Renamed{"utilisation", "flops_utilisation"}};
constexpr std::array renamed_results{Renamed{"time_s", "collective_time_s"},
                                     Renamed{"bound_s", "lower_bound_s"},
                                     Renamed{"undisturbed_s", "undisturbed_time_s"},
                                     Renamed{"max_utilisation", "max_link_utilisation"},
                                     Renamed{"mean_utilisation", "mean_link_utilisation"}};

/// A text, and what is to be changed in it.
class Edits {
public:
  explicit Edits(std::string_view text) : text_(text) {
    lines_.push_back(text.starts_with("\xEF\xBB\xBF") ? 3 : 0); // a mark of UTF-8 has no column
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') lines_.push_back(i + 1);
  }

  [[nodiscard]] std::size_t offset(ConfigPlace place) const {
    std::size_t at = lines_[place.line - 1];
    for (std::size_t column = 1; column < place.column && at < text_.size(); ++column) do
        ++at;
      while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80U);
    return at;
  }
  [[nodiscard]] std::size_t line_begin(std::size_t at) const {
    return *std::prev(std::ranges::upper_bound(lines_, at));
  }
  /// Before what ends the line.
  [[nodiscard]] std::size_t line_end(std::size_t at) const {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    return end < text_.size() && end > at && text_[end - 1] == '\r' ? end - 1 : end;
  }
  /// What ends it, as the first line's end where it is the last; files may have both kinds.
  [[nodiscard]] std::string_view newline(std::size_t at) const {
    std::size_t end = line_end(at);
    if (end == text_.size()) end = line_end(0);
    return end < text_.size() && text_[end] == '\r' ? "\r\n" : "\n";
  }
  [[nodiscard]] std::string_view text(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }
  /// Up to the end.
  [[nodiscard]] std::string_view text(std::size_t begin) const { return text_.substr(begin); }

  void replace(std::size_t begin, std::size_t end, std::string by) {
    changes_.push_back({begin, end, std::move(by)});
  }
  /// Lines of their own before that of `at`, which begin like it.
  void add_before(std::size_t at, const std::vector<std::string>& entries) {
    const std::size_t begin = line_begin(at);
    std::string lines;
    for (const std::string& entry : entries)
      lines += fmt::format("{}{}{}", text(begin, at), entry, newline(at));
    replace(begin, begin, std::move(lines));
  }
  /// Lines of their own behind that of `at`.
  void add_behind(std::size_t at, std::string_view indent,
                  const std::vector<std::string>& entries) {
    std::string lines;
    for (const std::string& entry : entries)
      lines += fmt::format("{}{}{}", newline(at), indent, entry);
    replace(line_end(at), line_end(at), std::move(lines));
  }
  /// The line of a key, but for a comment behind its value.
  void remove_line(std::size_t key_begin, std::size_t value_end) {
    const std::size_t end = line_end(value_end);
    const std::string_view comment = trimmed(text(value_end, end));
    const std::size_t begin = line_begin(key_begin);
    if (comment.empty())
      replace(begin, std::min(end + newline(end).size(), text_.size()), "");
    else
      replace(text_.find_first_not_of(" \t", begin),
              static_cast<std::size_t>(comment.data() - text_.data()), "");
  }

  [[nodiscard]] std::string applied() {
    std::ranges::stable_sort(changes_, {},
                             [](const Change& c) { return std::pair(c.begin, c.end); });
    std::string result;
    std::size_t at = 0;
    for (const Change& change : changes_) {
      result += text(at, change.begin);
      result += change.by;
      at = change.end;
    }
    result += text(at);
    if (!text_.ends_with('\n') && result.ends_with('\n')) // the last line went away
      result.erase(result.size() - (result.ends_with("\r\n") ? 2 : 1));
    return result;
  }

private:
  struct Change {
    std::size_t begin, end;
    std::string by;
  };
  std::string_view text_;
  std::vector<std::size_t> lines_; ///< where each begins
  std::vector<Change> changes_;
};

/// A table of the file, and what becomes of its keys.
class Block {
public:
  Block(Edits& edits, ConfigTable table, bool is_in_inline)
      : edits_(edits), table_(std::move(table)) {
    for (const std::string& key : table_.keys()) names_.emplace(key, key);
    const char c = edits_.text(edits_.offset(table_.region().begin)).front();
    is_inline_ = c == '{' || (is_in_inline && c != '[');
  }

  [[nodiscard]] bool has(const std::string& key) const { return names_.contains(key); }
  [[nodiscard]] std::vector<std::string> keys() const { return table_.keys(); } ///< as in the file
  /// Pre: has(key).
  [[nodiscard]] ConfigValue at(const std::string& key) { return table_.at(names_.at(key)); }
  /// Those that are tables or arrays of them; of other values none.
  [[nodiscard]] std::vector<Block> tables(const std::string& key) {
    std::vector<Block> found;
    if (!has(key)) return found;
    const ConfigValue value = at(key);
    for (const ConfigValue& each : value.is_array() ? value.array() : std::vector{value})
      if (each.is_table()) found.emplace_back(edits_, each.table(), is_inline_);
    return found;
  }
  /// As it is written.
  [[nodiscard]] std::string value_text(const std::string& key) {
    const auto [begin, end] = value_of(key);
    return std::string(edits_.text(begin, end));
  }
  void set(const std::string& key, std::string text) {
    const auto [begin, end] = value_of(key);
    edits_.replace(begin, end, std::move(text));
  }

  void rename(const std::string& key, const std::string& now) {
    static_cast<void>(value_of(key));
    const std::string in_file = names_.at(key);
    const ConfigRegion region = table_.key_region(in_file);
    names_.erase(key);
    claim(now, in_file);
    edits_.replace(edits_.offset(region.begin), edits_.offset(region.end), now);
  }
  void remove(const std::string& key) {
    require_lines(key);
    edits_.remove_line(key_begin(key), value_of(key).second);
    names_.erase(key);
  }
  /// Entries "key = value" before one that is there.
  void add_before(const std::string& key, const std::vector<std::string>& entries) {
    require_lines(key);
    claim_all(entries, key);
    edits_.add_before(key_begin(key), entries);
  }
  void add_behind(const std::string& key, const std::vector<std::string>& entries) {
    require_lines(key);
    claim_all(entries, key);
    const std::size_t begin = key_begin(key);
    edits_.add_behind(value_of(key).second, edits_.text(edits_.line_begin(begin), begin), entries);
  }
  /// Behind the label, or before all.
  void add(const std::vector<std::string>& entries) {
    if (has("label")) return add_behind("label", entries);
    for (const std::string& key : table_.keys()) // a table with a header may precede them
      if (edits_.offset(table_.at(key).region().begin) >= begin_of(key)) {
        claim_all(entries, key);
        return edits_.add_before(begin_of(key), entries);
      }
  }
  /// To a table in it, however it is written.
  void add_to(const std::string& key, const std::vector<std::string>& entries) {
    if (!has(key)) return add({fmt::format("{} = {{{}}}", key, joined(entries, ", "))});
    Block inner(edits_, at(key).table(), is_inline_);
    for (const std::string& entry : entries)
      if (const std::string name = entry.substr(0, entry.find(' ')); inner.has(name))
        throw inner.at(name).error(fmt::format("\"{}\" is here, and in an older form, too", name));
    const ConfigRegion region = at(key).region();
    const std::size_t begin = edits_.offset(region.begin), end = edits_.offset(region.end);
    const char c = edits_.text(begin).front();
    if (c == '{') {
      const std::size_t last = edits_.text(0, end - 1).find_last_not_of(" \t") + 1;
      edits_.replace(last, last, (last == begin + 1 ? "" : ", ") + joined(entries, ", "));
    } else if (c == '[') {
      edits_.add_behind(begin, edits_.text(edits_.line_begin(begin), begin), entries);
    } else {
      require_lines(key);
      edits_.add_before(inner.begin_of(inner.table_.keys().front()), entries);
    }
  }

  /// Errors: InputError at a key that has no meaning here any more.
  void refuse_left() {
    for (const Renamed& renamed : renamed_keys)
      if (const std::string key(renamed.from); has(key))
        throw at(key).error(fmt::format("\"{}\" is now {}, but of this expectation only its "
                                        "author can say how",
                                        key, renamed.to));
  }

private:
  // As the file calls it.
  [[nodiscard]] std::size_t begin_of(const std::string& key) const {
    return edits_.offset(table_.key_region(key).begin);
  }
  [[nodiscard]] std::size_t key_begin(const std::string& key) const {
    return begin_of(names_.at(key));
  }
  // Errors: InputError where the value is a table below a header, or of dotted keys.
  [[nodiscard]] std::pair<std::size_t, std::size_t> value_of(const std::string& key) {
    const ConfigRegion region = at(key).region();
    const std::size_t begin = edits_.offset(region.begin);
    if (begin <= key_begin(key))
      throw at(key).error(fmt::format("\"{}\" is no table in any version", key));
    return {begin, edits_.offset(region.end)};
  }
  void require_lines(const std::string& key) {
    if (is_inline_)
      throw at(key).error(fmt::format(
          "what has \"{}\" must be written anew, which takes lines of its own: write this table "
          "below a [header]",
          key));
  }
  void claim(const std::string& name, const std::string& in_file) {
    if (!names_.emplace(name, in_file).second)
      throw at(name).error(fmt::format(
          "\"{}\" of an earlier version makes a \"{}\", which is here, too", in_file, name));
  }
  void claim_all(const std::vector<std::string>& entries, const std::string& in_file) {
    for (const std::string& entry : entries) claim(entry.substr(0, entry.find(' ')), in_file);
  }

  Edits& edits_;
  ConfigTable table_;
  bool is_inline_ = false; ///< lines can't be added
  /// What the keys are called once changed, and in the file; of new ones, those they come from.
  std::map<std::string, std::string> names_;
};

void update_metric(Block& block, std::string_view kind) {
  if (!block.has("metric") || !block.at("metric").is_string()) return;
  const std::string name = block.at("metric").string();
  std::vector<std::string> known;
  for (const RecordColumn& column : columns_of_kind(kind))
    known.emplace_back(name_without_unit(column));
  if (std::ranges::find(known, name) != known.end()) return;
  const auto fraction = [](std::string_view purpose) {
    return fmt::format("exposed_{}_fraction", purpose);
  };
  const std::size_t colon = name.find(':') + 1;
  std::string now(metric_now(name, known));
  if (name.starts_with("exposed_fraction:")) now = fraction(name.substr(colon));
  if (kind == "training" && name.starts_with("exposed:"))
    throw block.at("metric").error(
        fmt::format("metric \"{}\" is no more: {} is its part of the iteration", name,
                    fraction(name.substr(colon))));
  if (std::ranges::find(known, now) != known.end()) block.set("metric", fmt::format("\"{}\"", now));
}

// `paper` with `at_most` true is `at_most` with the value.
void update_limit(Block& block) {
  const bool is_flagged = block.has("at_most") && block.at("at_most").is_boolean();
  const std::string number = block.has("paper") ? "paper" : "value";
  const bool is_limit = is_flagged && block.at("at_most").boolean();
  if (is_limit && !block.has(number))
    throw block.at("at_most").error("\"at_most\" is now the limit itself, and there is no number");
  if (is_flagged) block.remove("at_most");
  if (is_limit)
    block.rename(number, "at_most");
  else if (number == "paper")
    block.rename("paper", "value");
}

void update_summary(Block& block) {
  if (!block.has("mean")) return;
  const std::string mean = block.at("mean").string();
  if (mean == "geometric" || mean == "arithmetic") block.set("mean", "\"" + mean + "_mean\"");
  block.rename("mean", "summary");
}

void update_runs(Block& block) {
  for (const char* selection : {"of", "over"})
    for (Block& selector : block.tables(selection))
      if (selector.has("run")) selector.rename("run", "label");
  if (!block.has("discipline")) return;
  const std::string entry = "discipline = " + block.value_text("discipline");
  block.remove("discipline");
  block.add_to("of", {entry});
  if (block.has("over")) block.add_to("over", {entry});
}

/// The entries of a table that keys of the block become, and which the block has no more.
std::vector<std::string> taken(Block& block, const std::vector<std::string>& keys) {
  std::vector<std::string> entries;
  for (const std::string& key : keys) {
    if (!block.has(key)) continue;
    const bool selects_all = block.at(key).is_array() && block.at(key).array().empty();
    if (!selects_all)
      entries.push_back(
          fmt::format("{} = {}", key == "algorithms" ? "algorithm" : key, block.value_text(key)));
    block.remove(key);
  }
  return entries;
}

/// As a TOML string.
std::string quoted_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

/// "RFS, ring: ", as expectations without a label were called after their study.
std::string study_words(Block& study, Block& expectation) {
  std::string words = study.has("label") ? study.at("label").string() : "";
  std::string algorithm;
  if (expectation.has("algorithm") && expectation.at("algorithm").is_string())
    algorithm = expectation.at("algorithm").string();
  else if (study.has("algorithms") && study.at("algorithms").is_array() &&
           study.at("algorithms").array().size() == 1)
    algorithm = study.at("algorithms").array().front().string();
  if (!algorithm.empty()) words += (words.empty() ? "" : ", ") + algorithm;
  return words.empty() ? "" : words + ": ";
}

void update_failures(Block& study, Block& block) {
  if (!block.has("policy")) return;
  if (block.has("of"))
    throw block.at("policy").error("\"policy\" is now a key of \"of\", which stands here, too");
  std::vector<std::string> lines;
  const std::string over = block.has("over") ? block.at("over").string() : "undisturbed";
  if (!block.has("label"))
    lines.push_back("label = " + quoted_text(fmt::format("{}{} / {}", study_words(study, block),
                                                         block.at("policy").string(), over)));
  const bool is_several = !block.has("failed_links") || block.at("failed_links").is_array();
  const std::string over_text = block.has("over") ? block.value_text("over") : "";
  if (block.has("over")) block.remove("over");
  lines.push_back(fmt::format("of = {{{}}}",
                              joined(taken(block, {"policy", "algorithm", "failed_links"}), ", ")));
  if (over != "undisturbed") lines.push_back(fmt::format("over = {{policy = {}}}", over_text));
  if (is_several) lines.emplace_back("summary = \"largest\"");
  block.add(lines);
  if (block.has("value") && !block.has("tolerance"))
    block.add_behind("value", {"tolerance = \"0%\""});
}

void update_executions(Block& block) {
  if (block.has("error_at_most") && block.has("copy_rate_at_least"))
    throw block.at("copy_rate_at_least")
        .error("\"error_at_most\" stands here, too: they are now two expectations, each with its "
               "own [[executions.expect]]");
  std::vector<std::string> of = taken(block, {"algorithms"});
  std::array<std::string, 2> range;
  for (const auto& [key, text] : {std::pair{"from", &range[0]}, {"to", &range[1]}}) {
    if (!block.has(key)) continue;
    static_cast<void>(block.at(key).bytes()); // what isn't a size makes no range of sizes
    *text = block.at(key).string();
    block.remove(key);
  }
  if (!range[0].empty() || !range[1].empty())
    of.push_back(fmt::format("size = \"{}..{}\"", range[0], range[1]));
  if (!of.empty()) block.add_to("of", of);
  if (block.has("error_at_most")) {
    block.add_before("error_at_most", {"summary = \"error\""});
    block.rename("error_at_most", "at_most");
  }
  if (block.has("copy_rate_at_least")) {
    block.add_before("copy_rate_at_least",
                     {"metric = \"copy_rate_fraction\"", "summary = \"largest\""});
    block.rename("copy_rate_at_least", "at_least");
  }
}

void update_expectations(Block& study, std::string_view kind) {
  for (Block& block : study.tables("expect")) {
    update_limit(block);
    update_summary(block);
    update_metric(block, kind);
    if (kind == "runs") update_runs(block);
    if (kind == "failures") update_failures(study, block);
    if (kind == "executions") update_executions(block);
    block.refuse_left();
  }
}

void update_collectives(Block& root) {
  const auto update = [](Block& block) {
    for (const Renamed& renamed : renamed_collective_keys)
      if (const std::string key(renamed.from);
          block.has(key) && (key == "pieces") == block.has("name"))
        block.rename(key, std::string(renamed.to));
  };
  for (Block& collective : root.tables("collective")) {
    update(collective);
    for (Block& chunk : collective.tables("chunks")) update(chunk);
  }
}

/// The expression with the results' new names; those that the study gives to its own stay.
std::string updated_expression(std::string_view text, bool is_training,
                               const std::set<std::string, std::less<>>& own) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    std::string_view word = text.substr(at, std::max<std::size_t>(end - at, 1));
    at += word.size();
    const bool is_fact = result.ends_with(':'); // "fact:time_s" is an algorithm's own
    std::vector<Renamed> known(renamed_results.begin(), renamed_results.end());
    if (is_training)
      known.insert(known.begin(), renamed_training_results.begin(), renamed_training_results.end());
    const auto renamed = std::ranges::find(known, word, &Renamed::from);
    result += renamed == known.end() || is_fact || own.contains(word) ? word : renamed->to;
  }
  return result;
}

void update_objectives(Block& root) {
  bool is_training = false;
  for (Block& experiment : root.tables("experiment"))
    is_training = is_training || !experiment.tables("training").empty();
  std::set<std::string, std::less<>> own;
  for (const char* table : {"parameters", "zip", "objectives"})
    for (Block& block : root.tables(table))
      for (const std::string& key : block.keys()) own.insert(key);
  const auto update = [&](Block& block, const std::string& key) {
    const std::string text = block.value_text(key);
    const std::string now = updated_expression(text, is_training, own);
    if (now != text) block.set(key, now);
  };
  for (Block& objectives : root.tables("objectives"))
    for (const std::string& key : objectives.keys()) {
      if (objectives.at(key).is_string()) update(objectives, key);
      for (Block& objective : objectives.tables(key))
        if (objective.has("expression") && objective.at("expression").is_string())
          update(objective, "expression");
    }
}

// What the walk above doesn't know of, the readers may.
void require_accepted(std::string_view toml, const std::string& source_name) {
  try {
    static_cast<void>(parse_experiment(toml, source_name));
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    const std::size_t text =
        message.find(": \"") + 2; // behind the first place, if it is that key's
    if (message.starts_with(source_name + ":") && message.find(advice) != std::string_view::npos &&
        message.find(": ") + 2 == text)
      throw InputError(fmt::format("{}: it can't be updated: {}", source_name,
                                   message.substr(text, message.find(';') - text)));
  }
}

} // namespace

void refuse_renamed(ConfigTable& table) {
  for (const Renamed& renamed : renamed_keys)
    if (table.has(std::string(renamed.from)))
      throw table.at(std::string(renamed.from))
          .error(fmt::format("\"{}\" is now {}; {}", renamed.from, renamed.to, advice));
  if (table.has("at_most"))
    if (const ConfigValue at_most = table.at("at_most"); at_most.is_boolean())
      throw at_most.error(fmt::format("\"at_most\" is now the limit itself; {}", advice));
}

std::string_view metric_now(std::string_view metric, std::span<const std::string> known) {
  for (const Renamed& renamed : renamed_metrics)
    if (renamed.from == metric && std::ranges::find(known, renamed.to) != known.end())
      return renamed.to;
  return {};
}

std::string updated_toml(std::string_view toml, const std::string& source_name) {
  Edits edits(toml);
  if (toml.empty()) return {};
  Block root(edits, parse_config(toml, source_name), false);
  update_expectations(root, "runs");
  for (Block& figure : root.tables("figures")) update_metric(figure, "runs");
  for (const std::string& kind : kind_names())
    for (Block& study : root.tables(kind)) update_expectations(study, kind);
  update_collectives(root);
  if (root.has("experiment")) update_objectives(root);
  std::string text = edits.applied();
  static_cast<void>(parse_config(text, source_name)); // a defect of ours must not spoil a file
  require_accepted(text, source_name);
  return text;
}

} // namespace tutti
