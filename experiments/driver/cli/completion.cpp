// The shell's script is three lines that ask the program itself, so that whatever is added to a
// list is offered at once. Options come from the parser; what an option takes stands in the rows of
// studies' keys, or here by its name, which means the same in all commands.
#include "experiments/driver/cli/completion.hpp"

#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/options.hpp"
#include "experiments/driver/cli/study_line.hpp"
#include "experiments/driver/figures/link_values.hpp"
#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

Names topology_names() {
  Names names;
  for (const TopologyRow& row : topology_families()) names.emplace_back(row.name);
  for (const Machine& machine : machines()) names.push_back(machine.name);
  return names;
}

/// What an option or an argument takes that isn't a study's, by its name.
struct Values {
  std::string_view name;
  Names (*names)();
  std::string_view command = {}; ///< where it takes something of its own; empty: elsewhere
};
constexpr std::array values{Values{"--engine",
                                   [] {
                                     return Names{"local", "mpi"};
                                   },
                                   "sweep"},
                            Values{"--engine", engine_names, "replay"},
                            Values{"--algorithm", algorithm_names, "compare"},
                            Values{"--draw-by", [] { return link_quantity_words.names(); }},
                            Values{"--pictures", picture_formats},
                            Values{"--topology", topology_names},
                            Values{"experiment", experiment_names},
                            Values{"paper", paper_names},
                            Values{"sweep", sweep_names},
                            Values{"kind", listed_kinds},
                            Values{"shell", [] {
                                     return Names{"bash", "zsh"};
                                   }}};

/// What an option takes as one of these studies; the first that knows it.
Names names_in(std::span<const StudyCommand> studies, const CLI::Option& option) {
  for (const StudyCommand& study : studies)
    for (const StudyOption& row : study.options)
      if (row.words != nullptr && option.check_name(long_name(row))) return row.words();
  return {};
}

/// An option that isn't the command's study's means the same as in others.
Names names_for(const CLI::App& command, const CLI::Option& option) {
  const std::vector<StudyCommand> studies = study_commands();
  const auto own = std::ranges::find(studies, command.get_name(), &StudyCommand::name);
  if (own != studies.end())
    if (Names names = names_in({&*own, 1}, option); !names.empty()) return names;
  for (const Values& row : values)
    if ((row.command.empty() || row.command == command.get_name()) &&
        option.check_name(std::string(row.name)))
      return row.names();
  return names_in(studies, option);
}

Names beginning_with(const Names& names, const std::string& begun) {
  const std::size_t comma = begun.rfind(',');
  const std::string before = comma == std::string::npos ? "" : begun.substr(0, comma + 1);
  const std::vector<std::string_view> given = split(before, ',');
  Names found;
  for (const std::string& name : names)
    if ((before + name).starts_with(begun) && std::ranges::find(given, name) == given.end())
      found.push_back(before + name);
  std::ranges::sort(found);
  return found;
}

Names option_names(const CLI::App& command) {
  Names names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The option that a word names; null where it names none.
const CLI::Option* option_named(const CLI::App& command, const std::string& word) {
  if (!word.starts_with('-')) return nullptr;
  for (const CLI::Option* option : command.get_options())
    if (option->check_name(word)) return option;
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The argument that the word after these is, if it is no option's value; null where there are as
/// many already.
const CLI::Option* positional_after(const CLI::App& command, std::span<const std::string> words) {
  std::size_t given = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const CLI::Option* before = w == 0 ? nullptr : option_named(command, words[w - 1]);
    const bool is_value = before != nullptr && takes_value(*before);
    if (!is_value && !words[w].starts_with('-')) ++given;
  }
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional() && given-- == 0) return option;
  return nullptr;
}

Names command_names(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == name) return command;
  return nullptr;
}

} // namespace

std::vector<std::string> completions(const CLI::App& app, std::span<const std::string> typed) {
  Names words(typed.begin(), typed.end());
  if (words.empty()) return {};
  if (words.back() == "=") words.back().clear(); // a shell's word of its own in --engine=native
  std::erase(words, "=");
  const std::string& begun = words.back();
  if (words.size() == 1) {
    return beginning_with(begun.starts_with('-') ? option_names(app) : command_names(app), begun);
  }
  const CLI::App* command = command_named(app, words.front());
  if (command == nullptr) return {};
  if (begun.starts_with('-')) return beginning_with(option_names(*command), begun);
  const CLI::Option* option = option_named(*command, words[words.size() - 2]);
  if (option != nullptr && takes_value(*option))
    return beginning_with(names_for(*command, *option), begun);
  const CLI::Option* argument =
      positional_after(*command, std::span(words).subspan(1, words.size() - 2));
  if (argument == nullptr) return {};
  return beginning_with(
      argument->check_name("command") ? command_names(app) : names_for(*command, *argument), begun);
}

std::string completion_script(std::string_view shell) {
  const std::array<std::string, 2> known{"bash", "zsh"};
  if (std::ranges::find(known, shell) == known.end())
    throw InputError(unknown_name("shell", std::string(shell), Names(known.begin(), known.end())));
  const std::string script = R"(_tutti() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]/#\~/$HOME}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _tutti tutti
)";
  return shell == "zsh" ? "autoload -Uz compinit bashcompinit\n"
                          "(( $+functions[compdef] )) || compinit\nbashcompinit\n" +
                              script
                        : script;
}

int completion_command(const CompletionArguments& arguments) {
  print_text(completion_script(arguments.shell));
  return 0;
}

} // namespace tutti
