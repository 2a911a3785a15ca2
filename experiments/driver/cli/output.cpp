// fmt::print() throws where it can't write, which is no defect of ours, and on stderr would hide
// what it was to say.
#include "experiments/driver/cli/output.hpp"

#include "experiments/driver/cli/printable.hpp"
#include "sim/files/standard_files.hpp"

#include <cstdio>
#include <string>

namespace tutti {

void print_text(std::string_view text) {
  const std::string shown = printable(text, "\n\t");
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size()) flush_standard_output();
}

void print_message(std::string_view text) {
  const std::string line = "tutti: " + printable(text) + "\n";
  [[maybe_unused]] const std::size_t written = std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace tutti
