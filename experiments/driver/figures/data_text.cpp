// gnuplot reads strings among data in another way than those of commands: see gnuplot_quoted().
#include "experiments/driver/figures/data_text.hpp"

#include "experiments/driver/cli/printable.hpp"

namespace tutti {

std::string data_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : printable(text)) {
    if (letter == '\\' || letter == '"') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

} // namespace tutti
