// Which values of a point follow from which: definitions from what their expressions and texts
// name, facts from what the topology's text names.
#pragma once

#include "experiments/driver/sweep/space/sweep.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::sweep {

/// A value is an index into value_names(sweep): parameters, then definitions, then facts.
struct Dependencies {
  std::vector<std::string> names;
  std::size_t parameters = 0, definitions = 0; ///< how many of each
  std::vector<std::vector<std::size_t>> uses;  ///< [value]: directly; `largest` also its own
  std::vector<std::vector<std::size_t>> users; ///< [value]: the reverse of `uses`
  std::vector<bool> is_largest;                ///< [value]: a definition of that kind

  /// All that follows from a value, directly or not, without itself; sorted.
  [[nodiscard]] std::vector<std::size_t> followers(std::size_t value) const;
  /// All that a value follows from, directly or not, without itself; sorted. For a `largest`,
  /// paths through itself don't count: its condition takes it as given.
  [[nodiscard]] std::vector<std::size_t> sources(std::size_t value) const;
};

/// Names of a definition's expression or text, among these. Errors: InputError.
[[nodiscard]] std::vector<std::string> names_of(const Definition& definition,
                                                const std::vector<std::string>& known);

/// Errors: InputError with a place for what isn't known.
[[nodiscard]] Dependencies dependencies_of(const Sweep& sweep);

/// Errors: InputError with a place: definitions that follow from themselves, or two `largest` each
/// of which depends on the other.
void refuse_cycles(const Dependencies& dependencies, const Sweep& sweep);

} // namespace tutti::sweep
