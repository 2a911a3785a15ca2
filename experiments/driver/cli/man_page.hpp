// What the parser knows of commands, as pages: for `man`, and for the documentation.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace tutti {

/// tutti(1), or tutti-COMMAND(1) for the name of a command: the same options and texts as `--help`,
/// in roff with the macros of man(7). Nothing in it differs from day to day.
/// Errors: InputError with the known commands.
[[nodiscard]] std::string man_page(const CLI::App& app, std::string_view command);

/// All commands in one page of Markdown: of each option what it says, and the key of experiments
/// that it stands for. Nothing in it differs from day to day.
[[nodiscard]] std::string reference_page(const CLI::App& app);

} // namespace tutti
