// The parser knows every command and option with its help; a page is a walk over it, so that it
// says what `--help` says and nothing has to be kept in step.
#include "experiments/driver/cli/man_page.hpp"

#include "experiments/driver/cli/options.hpp"
#include "experiments/driver/cli/study_line.hpp"
#include "experiments/driver/records/provenance.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tutti {

namespace {

/// As roff shows it as it is: a backslash, a dash that isn't a hyphen, and a line that would be a
/// request.
std::string escaped(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\')
      roff += "\\e";
    else if (c == '-')
      roff += "\\-";
    else if (c == '~' || c == '^' || c == '`' || c == '\'')
      roff += c == '~' ? "\\(ti" : c == '^' ? "\\(ha" : c == '`' ? "\\(ga" : "\\(aq";
    else
      roff += c;
  }
  return roff.starts_with('.') ? "\\&" + roff : roff;
}

std::string in_bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string in_italics(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

/// "-t, --topology TEXT", or the name of an argument.
std::string head_of(const CLI::Option& option) {
  if (option.get_positional()) return in_italics(option.get_name(true, true));
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(in_bold("-" + name));
  for (const std::string& name : option.get_lnames()) names.push_back(in_bold("--" + name));
  return joined(names, ", ") + (is_flag(option) ? "" : " " + in_italics("TEXT"));
}

std::string text_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += text.empty() ? "required" : "; required";
  std::vector<std::string> excluded;
  for (const CLI::Option* other : option.get_excludes())
    excluded.push_back(other->get_positional() ? other->get_name(true, true)
                                               : "--" + other->get_lnames().front());
  std::ranges::sort(excluded);
  if (!excluded.empty()) text += fmt::format("; not with {}", joined(excluded, ", "));
  return text;
}

std::string entry(const CLI::Option& option) {
  return fmt::format(".TP\n{}\n{}\n", head_of(option), escaped(text_of(option)));
}

std::string options_of(const CLI::App& command) {
  std::string text, arguments;
  for (const std::string& group : command.get_groups()) {
    std::string entries;
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_group() != group) continue;
      (option->get_positional() ? arguments : entries) += entry(*option);
    }
    const bool is_named = group != "Options" && !group.empty();
    if (!entries.empty())
      text += (is_named ? fmt::format(".SS {}\n", escaped(group)) : "") + entries;
  }
  return (arguments.empty() ? "" : ".SH ARGUMENTS\n" + arguments) +
         (text.empty() ? "" : ".SH OPTIONS\n" + text);
}

/// What stands below the options: examples, then exit codes.
std::string footer_of(const CLI::App& command) {
  constexpr std::string_view examples = "Examples:\n", codes = "Exit code: ";
  const std::string footer = command.get_footer();
  std::string text;
  if (footer.starts_with(examples)) {
    text += ".SH EXAMPLES\n.nf\n";
    const std::size_t end = std::min(footer.find(codes), footer.size());
    for (const std::string_view line :
         split(std::string_view(footer).substr(examples.size(), end - examples.size()), '\n'))
      if (!trimmed(line).empty()) text += escaped(trimmed(line)) + "\n";
    text += ".fi\n";
  }
  if (const std::size_t at = footer.find(codes); at != std::string::npos)
    text += fmt::format(".SH EXIT STATUS\n{}\n", escaped(footer.substr(at + codes.size())));
  return text;
}

std::string synopsis_of(const CLI::App& command) {
  std::string text = fmt::format(".SH SYNOPSIS\n{}", in_bold("tutti " + command.get_name()));
  for (const CLI::Option* option : command.get_options()) {
    const bool is_needed = option->get_required();
    if (!option->get_positional() && !is_needed) continue;
    text += is_needed ? " " + head_of(*option) : fmt::format(" [{}]", head_of(*option));
  }
  return text + " [" + in_italics("options") + "]\n";
}

std::string title_of(const std::string& name, const std::string& what) {
  std::string capitals = name;
  std::ranges::transform(capitals, capitals.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return fmt::format(".TH {} 1 \"\" \"tutti {}\" \"Tutti\"\n.SH NAME\n{} \\- {}\n",
                     escaped(capitals), tutti_version(), escaped(name), escaped(what));
}

std::string page_of_all(const CLI::App& app, const std::vector<const CLI::App*>& commands) {
  std::string text = title_of("tutti", app.get_description());
  text += fmt::format(".SH SYNOPSIS\n{} {} [{}]\n.SH COMMANDS\n", in_bold("tutti"),
                      in_italics("command"), in_italics("options"));
  std::vector<std::string> pages;
  for (const CLI::App* command : commands) {
    text += fmt::format(".TP\n{}\n{}\n", in_bold(command->get_name()),
                        escaped(command->get_description()));
    pages.push_back(in_bold("tutti-" + command->get_name()) + "(1)");
  }
  return text + options_of(app) + footer_of(app) + ".SH SEE ALSO\n" + joined(pages, ", ") + "\n";
}

} // namespace

std::string man_page(const CLI::App& app, std::string_view command) {
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  if (command.empty()) return page_of_all(app, commands);
  std::vector<std::string> known;
  for (const CLI::App* each : commands) {
    known.push_back(each->get_name());
    if (each->get_name() != command) continue;
    return title_of("tutti-" + each->get_name(), each->get_description()) + synopsis_of(*each) +
           options_of(*each) + footer_of(*each) + ".SH SEE ALSO\n" + in_bold("tutti") + "(1)\n";
  }
  throw InputError(unknown_name("command", command, known));
}

namespace {

/// In a cell of a table.
std::string in_cell(std::string_view text) {
  std::string markdown;
  for (const char c : text) {
    if (std::string_view("|<*_[").find(c) != std::string_view::npos) markdown += '\\';
    markdown += c;
  }
  return markdown;
}

std::string markdown_head(const CLI::Option& option) {
  if (option.get_positional()) return "*" + option.get_name(true, true) + "*";
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("`-" + name + "`");
  for (const std::string& name : option.get_lnames()) names.push_back("`--" + name + "`");
  return joined(names, ", ");
}

/// Key of the option in experiments; empty where only the command has the option.
std::string key_of(const CLI::Option& option, std::span<const StudyOption> options) {
  for (const StudyOption& each : options)
    if (option.check_name(long_name(each))) return fmt::format("`{}`", each.key);
  return "";
}

std::string reference_of(const CLI::App& command, const StudyCommand* study) {
  std::string text = fmt::format("\n## tutti {}\n\n{}.\n\n", command.get_name(),
                                 in_cell(command.get_description()));
  if (study != nullptr)
    text += fmt::format("A key stands in `[[{}]]` of an experiment for the option beside it.\n\n",
                        study->kind);
  text += study == nullptr ? "| option | what it says |\n|---|---|\n"
                           : "| option | key | what it says |\n|---|---|---|\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr()) continue;
    text += fmt::format("| {} |", markdown_head(*option));
    if (study != nullptr) text += fmt::format(" {} |", key_of(*option, study->options));
    text += fmt::format(" {} |\n", in_cell(text_of(*option)));
  }
  return text;
}

} // namespace

std::string reference_page(const CLI::App& app) {
  std::string text = "# Commands and options\n\nWritten by `tutti man --reference` from the lists "
                     "that the program itself reads.\n";
  const std::vector<StudyCommand> studies = study_commands();
  for (const CLI::App* command : app.get_subcommands({})) {
    const auto study = std::ranges::find(studies, command->get_name(), &StudyCommand::name);
    text += reference_of(*command, study == studies.end() ? nullptr : &*study);
  }
  return text;
}

} // namespace tutti
