// Several rows, of which each may refuse what it is asked for: an algorithm that can't work on this
// network costs its own row only, and bad input that none can work with is an error.
#pragma once

#include "experiments/driver/pool/process_memory.hpp"
#include "sim/error.hpp"
#include "sim/synthesizer.hpp"

#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

class Refusals {
public:
  /// Counts a row as accepted that row() didn't make.
  void accept() { ++accepted_; }
  void refuse(const InputError& error) {
    if (!first_) first_ = error;
  }
  /// body(), or, where that meets bad input or has no more memory, refused(status, note).
  template <typename Body, typename Refused> auto row(const Body& body, const Refused& refused) {
    try {
      auto made = body();
      accept();
      return made;
    } catch (const InputError& error) {
      refuse(error);
      return refused(Status::unsupported, std::string(error.what()));
    } catch (const std::bad_alloc& error) {
      accept(); // the input may be good
      return refused(Status::out_of_memory, memory_text(error));
    }
  }

  /// Errors: the InputError of the first row, where no row accepted its input.
  void require_some() const {
    if (first_ && accepted_ == 0) throw InputError(*first_);
  }

private:
  std::optional<InputError> first_;
  std::size_t accepted_ = 0;
};

/// What is wrong where not one of several rows `is_made`, with the first one's reason; nothing
/// where one is, where a row has a problem, which says it, or where there are no rows.
template <typename Rows, typename IsMade>
[[nodiscard]] std::vector<std::string> nothing_of(const std::string& what, const Rows& rows,
                                                  const IsMade& is_made) {
  bool is_reported = false;
  for (const auto& row : rows) is_reported = is_reported || is_made(row) || !row.problem.empty();
  if (rows.empty() || is_reported) return {};
  const std::string& note = rows.front().note;
  return {what + (note.empty() ? note : ": " + note)};
}
inline constexpr const char* no_schedule = "no schedule was made";

} // namespace tutti
