// Texts among gnuplot's data. A text gets into a script only by data_text(), gnuplot_quoted() and
// tics_text(), each of which shows it as it is.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// "say \"a\"": in quotes, within which gnuplot reads backslashes as C does. Control characters are
/// written out (printable.hpp).
[[nodiscard]] std::string data_text(std::string_view text);

} // namespace tutti
