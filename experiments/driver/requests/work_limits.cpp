// A limit's unit says what it limits: sizes end in B, times don't.
#include "experiments/driver/requests/work_limits.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tutti {

void set_limits(SynthesisOptions& options, const std::string& text) {
  bool time = false, memory = false;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view one = trimmed(part);
    const bool is_memory = one.ends_with('B');
    if (is_memory)
      options.limit_bytes = parse_bytes(one).count;
    else
      options.limit_seconds = parse_time(one).seconds();
    if (is_memory ? options.limit_bytes <= 0 : !(options.limit_seconds > 0))
      throw InputError(fmt::format("limit \"{}\": more than 0, or none", text));
    bool& given = is_memory ? memory : time;
    if (given)
      throw InputError(
          fmt::format("limit \"{}\" names two {}", text, is_memory ? "sizes" : "times"));
    given = true;
  }
}

} // namespace tutti
