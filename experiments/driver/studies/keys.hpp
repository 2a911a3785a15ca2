// A key of a study's table is said once, as a row: how it is called, what may stand there and how
// that is read, and, where a command takes it, its option with the help. From the rows come the
// reader, the options of the command, and with these --help, completion and man pages. A command
// line becomes the table that the reader of files reads (cli/study_line.hpp), so that errors and
// defaults are the same on both roads. What depends on other keys is read by code of the kind: such
// a row has no reader.
#pragma once

#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/files/config.hpp"
#include "sim/synthesizer.hpp"
#include "sim/time_model.hpp"
#include "sim/words.hpp"
#include "synth/bounds/bounds.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti {

/// What stands for the file's name where a table was made of options.
inline constexpr std::string_view command_line_source = "command line";

/// How an option's texts become the value of its key.
enum class OptionForm : std::uint8_t {
  text,     ///< a string
  number,   ///< a number, where it is one: "auto" stays a string
  texts,    ///< strings; several with commas, and repeated
  repeated, ///< strings that may have commas; repeatable
  together, ///< the same as one item of a list, which belongs together
  numbers,  ///< with commas and repeated, of numbers
  pairs,    ///< name=text; repeatable
  shares,   ///< name=number; repeatable
  events,   ///< key=value,...; repeatable
  flag,     ///< true
  no_flag,  ///< false
};

using Names = std::vector<std::string>;

/// A row as commands know it.
struct StudyOption {
  const char* key;  ///< "micro_batch"; "parallel.tensor" of a table in the table
  const char* flag; ///< "--micro-batch", "-a,--algorithm"; "file": it has a place, no name
  OptionForm form;
  Names (*words)();  ///< what mostly stands there, for completion; null: anything
  const char* help;  ///< what it says, its unit, its default; {}: its words, "cpu or cuda"
  const char* group; ///< heading in --help from here on, or null
  bool is_required;
  /// What the command takes where nothing is given and its default isn't that of the key; or null.
  const char* otherwise;

  /// The same, under a heading.
  [[nodiscard]] constexpr StudyOption under(const char* heading) const {
    StudyOption option = *this;
    option.group = heading;
    return option;
  }
};

/// What may stand at a key, and how it is read into a study or a part of one.
template <typename Target> struct KeyValue {
  using Read = void (*)(const ConfigValue&, Target&);
  OptionForm form;
  Read read; ///< null: by code of the kind
  Names (*words)();

  constexpr KeyValue(OptionForm of, Read by = nullptr, Names (*among)() = nullptr)
      : form(of), read(by), words(among) {}
};

/// A row. Only files have it where it has no flag.
template <typename Target> struct Key : StudyOption {
  typename KeyValue<Target>::Read read = nullptr;

  constexpr Key(const char* key, const char* flag, KeyValue<Target> value, const char* help,
                const char* group = nullptr, bool is_required = false,
                const char* otherwise = nullptr)
      : StudyOption{key, flag, value.form, value.words, help, group, is_required, otherwise},
        read(value.read) {}
  /// One that other code reads.
  constexpr Key(const StudyOption& option) : StudyOption(option) {}
};

/// What is at these keys, of those that have a reader. `skipped`: so much of the keys' names is
/// that of a table around this one.
template <typename Table, typename Target>
void read_keys(Table& table, std::span<const Key<std::type_identity_t<Target>>> rows,
               Target& target, std::size_t skipped = 0) {
  for (const Key<Target>& row : rows)
    if (row.read != nullptr)
      if (const auto value = table.find(row.key + skipped)) row.read(*value, target);
}

/// The options of a command, from tables of rows in this order.
template <typename... Rows> std::vector<StudyOption> command_options(const Rows&... tables) {
  std::vector<StudyOption> options;
  const auto add = [&options](const auto& rows) {
    for (const StudyOption& row : rows)
      if (row.flag != nullptr) options.push_back(row);
  };
  (add(tables), ...);
  return options;
}

/// Values of keys, which are read into the member that a path of members leads to:
/// keys::whole<0, 3, &ModelWork::spec, &TrainingSpec::zero>.
namespace keys {

template <auto first, auto... rest> auto& member_of(auto& target) {
  if constexpr (sizeof...(rest) == 0)
    return target.*first;
  else
    return member_of<rest...>(target.*first);
}

template <typename Class, typename Type> Class class_of(Type Class::*);
template <auto first, auto...> struct Path { using Target = decltype(class_of(first)); };

template <typename Type> struct Optional { using Value = Type; };
template <typename Type> struct Optional<std::optional<Type>> { using Value = Type; };

/// `get` makes the member of what stands at the key.
template <OptionForm form, auto get, auto... path>
constexpr auto value(Names (*words)() = nullptr) {
  using Target = typename Path<path...>::Target;
  const auto read = [](const ConfigValue& from, Target& target) {
    auto& member = member_of<path...>(target);
    using Value = typename Optional<std::decay_t<decltype(member)>>::Value;
    member = static_cast<Value>(std::invoke(get, from));
  };
  return KeyValue<Target>(form, read, words);
}

template <std::int64_t low, std::int64_t high> std::int64_t whole_of(const ConfigValue& value) {
  return value.integer(low, high);
}
/// By words of an enum.
template <const auto& words> auto word_of(const ConfigValue& value) { return parsed(value, words); }
template <const auto& words> Names names_of() { return words.names(); }
/// By a function of the text.
template <auto parse> auto parsed_by(const ConfigValue& value) { return parsed(value, parse); }

template <auto... path>
constexpr auto flag = value<OptionForm::flag, &ConfigValue::boolean, path...>();
template <auto... path>
constexpr auto no_flag = value<OptionForm::no_flag, &ConfigValue::boolean, path...>();
template <auto... path>
constexpr auto bytes = value<OptionForm::text, &ConfigValue::bytes, path...>();
template <auto... path>
constexpr auto time = value<OptionForm::text, &ConfigValue::time, path...>();
template <std::int64_t low, std::int64_t high, auto... path>
constexpr auto whole = value<OptionForm::number, whole_of<low, high>, path...>();
template <const auto& words, auto... path>
constexpr auto word = value<OptionForm::text, word_of<words>, path...>(names_of<words>);
/// `words`: what the texts mostly are, or null.
template <auto parse, Names (*words)(), auto... path>
constexpr auto text = value<OptionForm::text, parsed_by<parse>, path...>(words);

} // namespace keys

/// Rows of several kinds that synthesize.
inline constexpr Key<SynthesisOptions> algorithms_option{
    "algorithms",
    "-a,--algorithm",
    KeyValue<SynthesisOptions>(OptionForm::texts, nullptr, algorithm_names_or_all),
    "a name, several with commas, or all",
    nullptr,
    true};
inline constexpr Key<SynthesisOptions> limit_option{
    "limit", "--limit", OptionForm::text,
    "time and memory for each synthesis: 60s, 8GiB or 60s,8GiB; default: any time, 3/4 of the "
    "memory"};
inline constexpr Key<SynthesisOptions> settings_option{
    "settings", "--set", OptionForm::pairs, "an option of an algorithm, key=value; repeatable"};
inline constexpr Key<SynthesisOptions> transport_option{
    "transport", "--transport", OptionForm::text,
    "how a runtime uses the links: ideal, nccl, rccl or a TOML file; default ideal"};
inline constexpr Key<SynthesisOptions> bound_option{
    "bound", "--bound",
    KeyValue<SynthesisOptions>(OptionForm::text, nullptr, keys::names_of<bound_effort_words>),
    "lower bounds: quick (takes 0.2 s, or little compared with a replay) or full (the best there "
    "is); default quick"};
/// And of those that simulate.
inline constexpr Key<TimeModel> network_model_option{
    "network_model", "--network-model", keys::word<network_model_words, &TimeModel::network>,
    "how fluid shares bandwidth: ideal (max-min), or SimGrid's own cm02, lv08, smpi or ib, with "
    "its parameters; default ideal"};
inline constexpr Key<TimeModel> link_busy_option{
    "link_busy", "--link-busy", keys::word<link_busy_words, &TimeModel::link_busy>,
    "how long a transfer holds a link: {}; default serialization"};
inline constexpr Key<TimeModel> forwarding_option{
    "forwarding", "--forwarding", keys::word<forwarding_words, &TimeModel::forwarding>,
    "how transfers cross several hops: {}; default auto"};

} // namespace tutti
