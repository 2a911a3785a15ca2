// Texts of options become numbers and rows here, and each error begins with the option that it is
// about.
#include "experiments/driver/cli/backend_request.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <vector>

namespace tutti {

void read_backend(const BackendArguments& arguments, ExecutionCase& c) {
  c.backend = of_option("--backend", [&] { return &find_backend(arguments.backend); });
  c.emulated = is_first("--links", arguments.links, "emulated", "real");
  c.request.repetitions = parse_count("--repeat", arguments.repetitions, 1, 10'000);
  c.request.watchdog_seconds =
      of_option("--watchdog", [&] { return parse_time(arguments.watchdog).seconds(); });
  c.profile.watchdog_seconds = c.request.watchdog_seconds;
}

std::uint32_t parse_count(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  return of_option(option, [&] {
    return static_cast<std::uint32_t>(parse_integer(text, "number", least, most));
  });
}

bool is_first(const std::string& option, const std::string& text, const std::string& first,
              const std::string& second) {
  if (text != first && text != second)
    throw InputError(option + ": " +
                     unknown_name("value", text, std::vector<std::string>{first, second}));
  return text == first;
}

} // namespace tutti
