// Functions of parts that aren't built yet; see cmake/TuttiParts.cmake.
#pragma once

#include "sim/synthesizer.hpp"

#include <string>

namespace tutti {

/// A function was called whose part isn't built. No std::exception: no case is refused for it.
struct NotBuilt {
  std::string part; ///< "sweep"

  [[nodiscard]] std::string text() const; ///< what is to be done
};
/// Errors: NotBuilt, always.
[[noreturn]] void not_built(const char* part);

/// Before hours of work. Errors: NotBuilt where the function is one of those.
void require_built(SynthesisFunction function);

/// Has `./tutti`, which started this program, build the part and start the same command again; it
/// comes back only where this program was started otherwise.
void build_and_start_again(const NotBuilt& missing, char** argv);

} // namespace tutti
