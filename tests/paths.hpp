// Where the repository and the commands that its tests call are: TUTTI_SOURCE_DIR, TUTTI_COMMAND,
// TUTTI_GPU_FAKE. Only those include it who read them, so that every clone compiles others alike.
#pragma once

#include <tutti_paths.hpp> // which CMake writes
