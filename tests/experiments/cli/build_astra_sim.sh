#!/bin/bash
# Builds ASTRA-sim's analytical backends from public sources into a folder, for the tests that
# compare Tutti's times with its own:
#
#   tests/experiments/cli/build_astra_sim.sh DIR
#   export TUTTI_ASTRA_SIM=DIR/bin
#   build/release/tests/tests_experiments "[astra-sim]"
#
# It needs git, CMake, a C++17 compiler and protobuf (protoc, libprotobuf-dev), and takes some
# minutes. TUTTI_GIT names another place for the repositories than https://github.com, a mirror's
# for instance; JOBS how many compilers run at once (default 2).
set -euo pipefail

if [[ $# -ne 1 ]]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
mkdir -p "$1"
folder=$(realpath "$1")
source=$folder/src

# obtain REPOSITORY COMMIT FOLDER [PART...]: all of it, or these of its folders
obtain() {
  local url=${TUTTI_GIT:-https://github.com}/$1 commit=$2 to=$3
  shift 3
  rm -rf "$to"
  git clone --quiet --no-checkout "$url" "$to"
  if [[ $# -gt 0 ]]; then
    git -C "$to" checkout --quiet "$commit" -- "$@"
  else
    git -C "$to" -c advice.detachedHead=false checkout --quiet "$commit"
  fi
}

# The first names the others as submodules. Of Chakra, its commit for that isn't in a branch any
# more; the one here, the head of feederv3, has the same reader.
obtain astra-sim/astra-sim 518bd513ae110428cd62eb60efc0f3993fd53c70 "$source"
extern=$source/extern
obtain astra-sim/chakra fece597f3e98be2607f2d5c7449e4a774e5319c3 \
  "$extern/graph_frontend/chakra" schema src
obtain astra-sim/astra-network-analytical 599a0473a9a74f5383f73b3cea5a12b9bc5ebaef \
  "$extern/network_backend/analytical"
obtain astra-sim/astra-memory-analytical 641cce854d256bfd288b1de9607b6757313363f9 \
  "$extern/remote_memory_backend/analytical"
obtain fmtlib/fmt 10.2.1 "$extern/helper/fmt"
obtain gabime/spdlog v1.13.0 "$extern/helper/spdlog"
obtain jbeder/yaml-cpp a83cd31 "$folder/yaml-cpp"

# ASTRA-sim brings yaml-cpp itself.
sed -i "/add_subdirectory.*yaml-cpp/d" "$extern/network_backend/analytical/CMakeLists.txt"
# ASTRA-sim names the reader by its namespace as well as without.
feeder=$extern/graph_frontend/chakra/src/feeder_v3
printf '\nnamespace Chakra {\nusing FeederV3::ETFeederNode;\n}\n' >>"$feeder/et_feeder_node.h"
printf '\nnamespace Chakra {\nusing FeederV3::ETFeeder;\n}\n' >>"$feeder/et_feeder.h"
# At its end it would free the implementation of a collective once for each group that uses it: it
# aborts, before all that it says is written, where an NPU has several groups.
sed -i "/delete ci;/d" "$source/astra-sim/system/CollectivePlan.cc"

proto=$extern/graph_frontend/chakra/schema/protobuf
protoc et_def.proto --proto_path="$proto" --cpp_out="$proto"
cmake -S "$source/build/astra_analytical" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release \
  -DFETCHCONTENT_SOURCE_DIR_YAML-CPP="$folder/yaml-cpp" -DYAML_CPP_BUILD_TESTS=OFF \
  -DYAML_CPP_BUILD_TOOLS=OFF
cmake --build "$folder/build" -j "${JOBS:-2}"
mkdir -p "$folder/bin"
find "$folder/build" "$source" -name 'AstraSim_Analytical_Congestion_*' -type f -perm -u+x \
  -exec cp {} "$folder/bin" \;
ls "$folder/bin"
