// A network that follows from a few numbers is a loop in anybody's language, and no file: `-t` runs
// it. That a file is such a program stands in the file, so that nothing else is ever run.
#include "topologies/network_program.hpp"

#include "sim/error.hpp"
#include "sim/processes/outside_program.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tutti::topologies {

std::optional<std::string> printed_format(std::string_view content) {
  for (int line = 0; line < 2; ++line) {
    std::string_view text = trimmed(content.substr(0, content.find('\n')));
    if (!text.starts_with('#')) return std::nullopt;
    text = trimmed(text.substr(1));
    if (text.starts_with("tutti:")) return std::string(trimmed(text.substr(6)));
    content.remove_prefix(std::min(content.find('\n'), content.size() - 1) + 1);
  }
  return std::nullopt;
}

std::string printed_by(const std::string& program, std::span<const std::string> arguments,
                       const ProgramLimits& limits) {
  const auto begin = std::chrono::steady_clock::now();
  const auto ask = [&] {
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - begin;
    if (so_far.count() > limits.seconds)
      throw InputError(fmt::format("{} isn't done after {} s", program, limits.seconds));
  };
  try {
    return OutsideProgram(program, arguments).rest(limits.bytes, ask);
  } catch (const ProgramFailure& e) {
    throw InputError(e.what());
  }
}

} // namespace tutti::topologies
