// Texts among gnuplot's data. This, gnuplot_quoted() and tics_text() are the only ways of a text into a
// script, and each shows the text as it is.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// "say \"a\"": in quotes, within which gnuplot reads backslashes as C does. Control characters are
/// written out (printable.hpp).
[[nodiscard]] std::string data_text(std::string_view text);

} // namespace tutti
