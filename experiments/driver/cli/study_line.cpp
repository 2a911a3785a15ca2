// The command line is the same tree as an experiment's file: one reader, one set of defaults. What
// that refuses has the option's name where a file has its place.
#include "experiments/driver/cli/study_line.hpp"

#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/output.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
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

/// As TOML would have it; what is no number stays a text, for the reader to refuse.
ConfigScalar number(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const auto whole = number_of<std::int64_t>(text);
  if (whole && (text == "0" || !digits.starts_with('0'))) return *whole;
  const auto value = number_of<double>(text);
  if (!value || whole || !std::isfinite(*value)) return std::string(text);
  return *value;
}

GivenValue scalar(std::string_view text, bool is_number) {
  return {is_number ? number(text) : ConfigScalar(std::string(text))};
}

GivenValue list_of(std::span<const std::string> texts, bool are_numbers) {
  GivenValue::List list;
  for (const std::string& text : texts)
    for (const std::string_view item : split(text, ','))
      list.push_back(scalar(trimmed(item), are_numbers));
  return {list};
}

GivenValue repeated(std::span<const std::string> texts) {
  GivenValue::List list;
  for (const std::string& text : texts) list.push_back(scalar(text, false));
  return {list};
}

GivenValue pairs_of(std::span<const std::string> texts, bool are_numbers) {
  GivenValue::Pairs pairs;
  for (const auto& [name, text] : parse_settings({texts.begin(), texts.end()}))
    pairs.push_back({name, scalar(text, are_numbers)});
  return {pairs};
}

GivenValue event_of(const std::string& text) {
  GivenValue::Pairs event;
  for (const std::string_view pair : split(text, ',')) {
    const std::size_t equals = pair.find('=');
    const std::string key(trimmed(pair.substr(0, equals)));
    if (equals == std::string_view::npos || key.empty())
      throw InputError(fmt::format("event \"{}\": \"{}\" isn't key=value", text, pair));
    if (std::ranges::find(event, key, &GivenValue::Pair::name) != event.end())
      throw InputError(fmt::format("event \"{}\": \"{}\" is given twice", text, key));
    event.push_back({key, scalar(trimmed(pair.substr(equals + 1)), key == "share")});
  }
  return {event};
}

GivenValue value_of(const StudyOption& option, const std::vector<std::string>& texts) {
  switch (option.form) {
  case OptionForm::text: return scalar(texts.front(), false);
  case OptionForm::number: return scalar(texts.front(), true);
  case OptionForm::texts: return list_of(texts, false);
  case OptionForm::repeated: return repeated(texts);
  case OptionForm::together: return {GivenValue::List{repeated(texts)}};
  case OptionForm::numbers: return list_of(texts, true);
  case OptionForm::pairs: return pairs_of(texts, false);
  case OptionForm::shares: return pairs_of(texts, true);
  case OptionForm::events: {
    GivenValue::List events;
    for (const std::string& text : texts) events.push_back(event_of(text));
    return {events};
  }
  case OptionForm::flag:
  case OptionForm::no_flag: break;
  }
  return {option.form == OptionForm::flag};
}

/// Errors: InputError for bytes that aren't UTF-8.
void require_text(std::string_view text) {
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    length = first_code_point(text).length;
    if (length == 0) throw InputError("this isn't UTF-8");
  }
}

} // namespace

std::string long_name(const StudyOption& option) {
  const std::string flag = option.flag;
  const std::size_t dashes = flag.find("--");
  return dashes == std::string::npos ? flag : flag.substr(dashes);
}

std::string help_of(const StudyOption& option) {
  const std::string help = option.help;
  const std::size_t at = help.find("{}");
  if (at == std::string::npos) return help;
  std::vector<std::string> words = option.words();
  const std::string last = words.back();
  words.pop_back();
  return help.substr(0, at) + joined(words, ", ") + " or " + last + help.substr(at + 2);
}

void add_study_options(CLI::App& app, std::span<const StudyOption> options, StudyLine& line) {
  for (const StudyOption& option : options) {
    if (option.group != nullptr) app.option_defaults()->group(option.group);
    const std::string name = long_name(option);
    if (option.form == OptionForm::flag || option.form == OptionForm::no_flag) {
      app.add_flag(option.flag, line.flags[name], help_of(option));
      continue;
    }
    CLI::Option* added = app.add_option(option.flag, line.texts[name], help_of(option));
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

/// What all these options say of the keys of a table. Errors: InputError where two are of one key.
std::vector<GivenOption> given_of(std::span<const StudyOption> options, const StudyLine& line,
                                  const std::string& table) {
  std::vector<GivenOption> all;
  for (const StudyOption& option : options) {
    GivenOption given{long_name(option), table + option.key, {}};
    if (const auto texts = texts_of(option, line)) {
      const auto same = [&](const auto& other) { return other.value && other.key == given.key; };
      if (const auto other = std::ranges::find_if(all, same); other != all.end())
        throw InputError(fmt::format("{} and {} exclude each other", other->name, given.name));
      given.value = of_option(given.name, [&] {
        for (const std::string& text : *texts) require_text(text);
        return value_of(option, *texts);
      });
    }
    all.push_back(std::move(given));
  }
  return all;
}

} // namespace

Experiment experiment_of(std::string_view kind, const std::string& topology, std::uint64_t seed,
                         std::span<const StudyOption> options, const StudyLine& line) {
  std::vector<GivenOption> given = given_of(options, line, std::string(kind) + ".");
  of_option("--topology", [&] { require_text(topology); });
  given.insert(given.begin(), {{"", std::string(kind), GivenValue{GivenValue::Pairs{}}},
                               {"--topology", "topologies.network", GivenValue{topology}}});
  Experiment experiment =
      unnamed_experiment(config_of(given), std::string(command_line_source), seed);
  experiment.topologies.front().label = experiment.topologies.front().topology.name();
  report_assumptions(experiment.topologies.front().topology);
  return experiment;
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
  ConfigTable table = config_of(given_of(options, line, ""));
  read(table);
  table.finish();
}

} // namespace tutti
