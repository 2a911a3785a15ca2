// The words of an enum: how files, options and tables call its values. They are said in one place;
// errors, help and completion list them from there.
#pragma once

#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

template <typename Enum, std::size_t count> struct Words {
  std::string_view what;                   ///< "discipline": for errors
  std::array<std::string_view, count> all; ///< of values that follow each other
  Enum first = Enum{};                     ///< of these

  [[nodiscard]] constexpr std::string_view text(Enum value) const {
    return all[static_cast<std::size_t>(value) - static_cast<std::size_t>(first)];
  }
  /// Errors: InputError with what is known.
  [[nodiscard]] Enum parse(std::string_view text) const {
    const auto found = std::ranges::find(all, text);
    if (found == all.end()) throw InputError(unknown_name(what, text, names()));
    return static_cast<Enum>(static_cast<std::size_t>(found - all.begin()) +
                             static_cast<std::size_t>(first));
  }
  [[nodiscard]] std::vector<std::string> names() const { return {all.begin(), all.end()}; }
};

} // namespace tutti
