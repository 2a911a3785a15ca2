// The words for how a disturbed collective ends: tables, JSON and stories say the same.
#include "sim/repair/segment.hpp"

namespace tutti {

std::string_view to_text(Ending ending) {
  switch (ending) {
  case Ending::complete: return "complete";
  case Ending::incomplete: return "incomplete";
  case Ending::no_destination: return "no destination lives";
  case Ending::nothing_left: break;
  }
  return "nothing survives";
}

} // namespace tutti
