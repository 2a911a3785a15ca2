// The command line is written as TOML, an option a line, and read by the reader of experiments: one
// reader, one set of defaults. Where it refuses a line, its place becomes the option's name.
#include "experiments/driver/cli/study_line.hpp"

#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/output.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/toml_string.hpp"
#include "sim/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace tutti {

namespace {

/// Nothing where the text, or some of it, is no such number.
template <typename T> std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// As TOML has it; what is no number stays a text, for the reader to refuse.
std::string number_toml(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool is_whole = number_of<std::int64_t>(text).has_value();
  if (is_whole && (text == "0" || !digits.starts_with('0'))) return std::string(text);
  const auto value = number_of<double>(text);
  if (!value || is_whole || !std::isfinite(*value)) return toml_string(text);
  const std::string number = fmt::format("{}", *value);
  return number.find_first_of(".e") == std::string::npos ? number + ".0" : number; // no integer
}

std::string scalar_toml(std::string_view text, bool is_number) {
  return is_number ? number_toml(text) : toml_string(text);
}

std::string list_toml(std::span<const std::string> texts, bool are_numbers) {
  std::string toml;
  for (const std::string& text : texts)
    for (const std::string_view item : split(text, ','))
      toml += (toml.empty() ? "" : ", ") + scalar_toml(trimmed(item), are_numbers);
  return "[" + toml + "]";
}

std::string repeated_toml(std::span<const std::string> texts) {
  std::string toml;
  for (const std::string& text : texts) toml += (toml.empty() ? "" : ", ") + toml_string(text);
  return "[" + toml + "]";
}

std::string pairs_toml(std::span<const std::string> texts, bool are_numbers) {
  std::string toml;
  for (const auto& [name, text] : parse_settings({texts.begin(), texts.end()}))
    toml += fmt::format("{}{} = {}", toml.empty() ? "" : ", ", toml_string(name),
                        scalar_toml(text, are_numbers));
  return "{" + toml + "}";
}

std::string events_toml(std::span<const std::string> texts) {
  std::string toml;
  for (const std::string& text : texts) {
    std::string event;
    std::set<std::string_view> keys;
    for (const std::string_view pair : split(text, ',')) {
      const std::size_t equals = pair.find('=');
      const std::string_view key = trimmed(pair.substr(0, equals));
      if (equals == std::string_view::npos || key.empty())
        throw InputError(fmt::format("event \"{}\": \"{}\" isn't key=value", text, pair));
      if (!keys.insert(key).second)
        throw InputError(fmt::format("event \"{}\": \"{}\" is given twice", text, key));
      event += fmt::format("{}{} = {}", event.empty() ? "" : ", ", toml_string(key),
                           scalar_toml(trimmed(pair.substr(equals + 1)), key == "share"));
    }
    toml += fmt::format("{}{{{}}}", toml.empty() ? "" : ", ", event);
  }
  return "[" + toml + "]";
}

std::string value_toml(const StudyOption& option, const std::vector<std::string>& texts) {
  switch (option.form) {
  case OptionForm::text: return toml_string(texts.front());
  case OptionForm::number: return number_toml(texts.front());
  case OptionForm::texts: return list_toml(texts, false);
  case OptionForm::repeated: return repeated_toml(texts);
  case OptionForm::together: return "[" + repeated_toml(texts) + "]";
  case OptionForm::numbers: return list_toml(texts, true);
  case OptionForm::pairs: return pairs_toml(texts, false);
  case OptionForm::shares: return pairs_toml(texts, true);
  case OptionForm::events: return events_toml(texts);
  case OptionForm::flag:
  case OptionForm::no_flag: break;
  }
  return option.form == OptionForm::flag ? "true" : "false";
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// TOML with an option on each of its lines.
class Lines {
public:
  /// `option`: whose line it is; empty: nobody's.
  void add(std::string option, const std::string& line) {
    text_ += line + "\n";
    options_.push_back(std::move(option));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

  /// The message of what the reader threw, for someone who gave options.
  /// What stands in quotes and was given so is left as it is.
  [[nodiscard]] std::string translated(const std::string& message,
                                       std::span<const StudyOption> options,
                                       const std::set<std::string>& given) const {
    std::string text = message, of; // the option whose line it is
    const std::string head = std::string(name) + ":";
    if (text.starts_with(head)) { // "name:line:column: "
      std::size_t line = 0;
      const char* digits = text.data() + head.size();
      const auto [end, error] = std::from_chars(digits, text.data() + text.size(), line);
      const std::size_t begin = text.find(": ", static_cast<std::size_t>(end - text.data()));
      if (error == std::errc() && begin != std::string::npos && line >= 1 &&
          line <= options_.size()) {
        of = options_[line - 1];
        text.erase(0, begin + 2);
      }
    }
    for (const StudyOption& option : options) {
      const std::string key = option.key, last = key.substr(key.rfind('.') + 1);
      if (given.contains(last)) continue;
      replace_all(text, "a key \"" + last + "\"", long_name(option));
      replace_all(text, "\"" + last + "\"", long_name(option));
    }
    return of.empty() || text.starts_with(of + " ") ? text : fmt::format("{}: {}", of, text);
  }

  static constexpr std::string_view name = command_line_source;

private:
  std::string text_;
  std::vector<std::string> options_; ///< of each line
};

} // namespace

std::string long_name(const StudyOption& option) {
  const std::string flag = option.flag;
  const std::size_t dashes = flag.find("--");
  return dashes == std::string::npos ? flag : flag.substr(dashes);
}

void add_study_options(CLI::App& app, std::span<const StudyOption> options, StudyLine& line) {
  for (const StudyOption& option : options) {
    if (option.group != nullptr) app.option_defaults()->group(option.group);
    const std::string name = long_name(option);
    if (option.form == OptionForm::flag || option.form == OptionForm::no_flag) {
      app.add_flag(option.flag, line.flags[name], option.help);
      continue;
    }
    CLI::Option* added = app.add_option(option.flag, line.texts[name], option.help);
    const bool has_place = name == option.flag && !name.starts_with('-');
    added->allow_extra_args(has_place && option.form == OptionForm::repeated);
    if (has_place && option.form == OptionForm::repeated) added->expected(1, -1);
    if (option.form == OptionForm::text || option.form == OptionForm::number)
      added->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    if (option.is_required) added->required();
  }
}

namespace {

/// Nothing where the option isn't given, and the default is the key's.
std::optional<std::vector<std::string>> texts_of(const StudyOption& option, const StudyLine& line) {
  const std::string name = long_name(option);
  if (const auto flag = line.flags.find(name); flag != line.flags.end())
    return flag->second ? std::optional(std::vector<std::string>()) : std::nullopt;
  const auto texts = line.texts.find(name);
  if (texts != line.texts.end() && !texts->second.empty()) return texts->second;
  if (option.otherwise == nullptr) return std::nullopt;
  return std::vector<std::string>{option.otherwise};
}

/// All that an error may quote: texts, and the parts of lists and pairs.
std::set<std::string> words_given(const std::string& topology, const StudyLine& line) {
  std::set<std::string> words{topology};
  for (const auto& [name, texts] : line.texts)
    for (const std::string& text : texts)
      for (const std::string_view item : split(text, ',')) {
        words.insert(std::string(trimmed(item)));
        for (const std::string_view side : split(item, '='))
          words.insert(std::string(trimmed(side)));
      }
  return words;
}

/// A line for each option that is given. Errors: InputError where two are of one key.
void add_given(Lines& lines, std::span<const StudyOption> options, const StudyLine& line) {
  std::map<std::string, std::string> given; // by key, which option
  for (const StudyOption& option : options) {
    const std::string name = long_name(option);
    const auto texts = texts_of(option, line);
    if (!texts) continue;
    if (const auto [other, is_new] = given.try_emplace(option.key, name); !is_new)
      throw InputError(fmt::format("{} and {} exclude each other", other->second, name));
    const std::string value = of_option(name, [&] { return value_toml(option, *texts); });
    lines.add(name, fmt::format("{} = {}", option.key, value));
  }
}

} // namespace

Experiment experiment_of(std::string_view kind, const std::string& topology, std::uint64_t seed,
                         std::span<const StudyOption> options, const StudyLine& line) {
  Lines lines;
  lines.add("", "[topologies]");
  lines.add("--topology", "network = " + toml_string(topology));
  lines.add("", fmt::format("[[{}]]", kind));
  add_given(lines, options, line);
  try {
    const std::string source(Lines::name);
    Experiment experiment = unnamed_experiment(parse_config(lines.text(), source), source, seed);
    experiment.topologies.front().label = experiment.topologies.front().topology.name();
    report_assumptions(experiment.topologies.front().topology);
    return experiment;
  } catch (const InputError& error) {
    throw InputError(lines.translated(error.what(), options, words_given(topology, line)));
  }
}

std::vector<std::string> inputs_of(const std::string& topology, const StudyLine& line) {
  std::vector<std::string> files{topology};
  std::error_code error;
  for (const auto& [option, texts] : line.texts)
    for (const std::string& text : texts) // "ring" is no file, whatever stands in the folder
      if (const std::filesystem::path path(text);
          path.has_extension() && std::filesystem::is_regular_file(path, error))
        files.push_back(text);
  return files;
}

void read_options(std::span<const StudyOption> options, const StudyLine& line,
                  const std::function<void(ConfigTable&)>& read) {
  Lines lines;
  add_given(lines, options, line);
  try {
    ConfigTable table = parse_config(lines.text(), std::string(Lines::name));
    read(table);
    table.finish();
  } catch (const InputError& error) {
    throw InputError(lines.translated(error.what(), options, words_given("", line)));
  }
}

} // namespace tutti
