// The words of conditions and purposes, as tables and files have them.
#include "experiments/driver/studies/training/condition.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <vector>

namespace tutti {

std::string_view to_text(Condition::Kind kind) {
  switch (kind) {
  case Condition::Kind::undisturbed: return "undisturbed";
  case Condition::Kind::disturbed: return "disturbed";
  case Condition::Kind::reroute: return "reroute";
  case Condition::Kind::resynthesize: break;
  }
  return "resynthesize";
}

std::string to_text(const Condition& condition) {
  if (condition.failed_links == 0) return std::string(to_text(condition.kind));
  return fmt::format("{}, {} failed link{}, seed {}", to_text(condition.kind),
                     condition.failed_links, condition.failed_links == 1 ? "" : "s",
                     condition.seed);
}

Purpose parse_purpose(std::string_view text) {
  std::vector<std::string> known;
  for (std::size_t p = 0; p < purpose_count; ++p) {
    const auto purpose = static_cast<Purpose>(p);
    if (to_text(purpose) == text) return purpose;
    known.emplace_back(to_text(purpose));
  }
  throw InputError(unknown_name("purpose", text, known));
}

} // namespace tutti
