// Texts for TOML that Tutti writes.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// A basic string, with its quotes: whatever is in the text, it reads back.
[[nodiscard]] std::string toml_string(std::string_view text);

} // namespace tutti
