// Man pages, as `man` reads them.
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

} // namespace tutti
