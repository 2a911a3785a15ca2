// Words of a command line.
#pragma once

#include <string>

namespace tutti {

/// One word for a shell: as it is where nothing in it is special, else 'it'\\''s'.
[[nodiscard]] std::string shell_word(const std::string& text);

} // namespace tutti
