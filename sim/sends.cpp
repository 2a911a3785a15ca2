// Out of line, so that what asks for sizes often stays small.

#include "sim/sends.hpp"

namespace tutti {

Bytes shared_send_size(const Collective& collective, const Schedule& schedule, std::size_t first) {
  Bytes size;
  const std::size_t end = schedule.send_end(first);
  for (std::size_t i = first; i < end; ++i) size += collective.chunks[schedule[i].chunk.value].size;
  return size;
}

} // namespace tutti
