#!/bin/sh
# Builds the XML readers of runtimes, from checkouts of their public repositories, into a folder of
# your own. None of their code comes here.
#
#   git clone https://github.com/ROCm/rccl                    (tried: 0cbce2a7)
#   git clone https://github.com/Azure/msccl-executor-nccl    (tried: c6f6b36)
#   git clone https://github.com/microsoft/msccl              (tried: b23e9cd)
#   tests/runtime/foreign_readers/build.sh OUT rccl=rccl executor=msccl-executor-nccl msccl=msccl
#   TUTTI_MSCCL_READERS=OUT build/release/tests/tests_runtime "the runtimes' own readers*"
#
# Any of the three may be left out. CXX: the compiler, default c++.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
mkdir -p "$out/stubs"
cp "$here/stubs/nccl.h" "$out/stubs/"
for header in core collectives debug checks device; do
  echo '#include "nccl.h"' >"$out/stubs/$header.h"
done
compile() {
  ${CXX:-c++} -std=c++17 -O1 -w -I"$out/stubs" -I"$out" "$@"
}
for pair in "$@"; do
  name=${pair%%=*}
  source=${pair#*=}/src
  case $name in
  rccl | executor)
    channels=$(sed -n 's/^#define MAXCHANNELS //p' "$source/include/device.h")
    compile -DMAXCHANNELS="$channels" -DMSCCL_MAX_NUM_STEPS=64 -I"$source/include" \
      "$here/reader.cpp" "$source/misc/msccl/msccl_parser.cc" -o "$out/$name"
    ;;
  msccl) # its reader is part of two larger files
    {
      echo '#include "nccl.h"'
      grep '^#define MAXCHANNELS ' "$source/include/devcomm.h"
      echo '#include "msccl.h"'
      echo '#include "xml.h"'
      sed -n '/^ncclResult_t xmlGetChar/,/XML Writer/p' "$source/graph/xml.cc" | sed '$d' | sed '$d'
      sed -n '/^ncclResult_t mscclAlgoXmlStep/,/^ncclResult_t mscclConfigXmlLoad/p' \
        "$source/graph/xml.cc" | sed '$d'
      sed -n '/^ncclResult_t mscclGetBufferType/,/^ncclResult_t mscclGetAllAlgoFrom/p' \
        "$source/graph/topo.cc" | sed '$d'
    } >"$out/msccl_reader.cc"
    compile -DMSCCL_OF_MICROSOFT -I"$source/include" -I"$source/graph" "$here/reader.cpp" \
      -o "$out/msccl"
    ;;
  *)
    echo "unknown runtime \"$name\" (known: rccl, executor, msccl)" >&2
    exit 2
    ;;
  esac
done
