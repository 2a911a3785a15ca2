// A newcomer's first command shouldn't wait for what it doesn't use: `./tutti` builds parts when
// they are asked for. The program itself doesn't build anything: it throws before it has done any
// work, and hands its command line back to the script that knows how.
#include "experiments/driver/studies/not_built.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include <unistd.h>

namespace tutti {

/// Replaced by the one that cmake/later.sh writes, where a part isn't built.
[[gnu::weak]] const char* missing_part_of(void (* /*function*/)()) { return nullptr; }

void not_built(const char* part) { throw NotBuilt{part}; }

void require_built(SynthesisFunction function) {
  if (const char* part = missing_part_of(reinterpret_cast<void (*)()>(function))) not_built(part);
}

std::string NotBuilt::text() const {
  return fmt::format(
      "this needs the part \"{0}\", which isn't built; `./tutti build {0}` builds it", part);
}

void build_and_start_again(const NotBuilt& missing, char** argv) {
  const char* script = std::getenv("TUTTI_SCRIPT");
  if (script == nullptr) return;
  ::setenv("TUTTI_BUILDS", missing.part.c_str(), 1);
  ::execv(script, argv);
}

} // namespace tutti
