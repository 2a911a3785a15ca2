#!/bin/sh
# Writes C++ with a function for each that is called and isn't there, and that a part of those that
# aren't built has: it throws NotBuilt. A program that is linked with them is whole until one is
# called.
#   later.sh OUTPUT "PART REGEX" ... -- OBJECTS AND ARCHIVES
# The first part whose regular expression fits a function's mangled name has it.
set -eu
output=$1
shift
parts=
while [ "$1" != -- ]; do
  parts="$parts$1
"
  shift
done
shift
nm -- "$@" | awk -v parts="$parts" '
  NF == 2 && $1 == "U" { wanted[$2] }
  NF == 3 { there[$3] }
  END {
    count = split(parts, rows, "\n")
    for (i = 1; i <= count; i++) {
      space = index(rows[i], " ")
      name[i] = substr(rows[i], 1, space - 1)
      regex[i] = substr(rows[i], space + 1)
    }
    for (f in wanted)
      if (!(f in there) && f ~ /^_ZNK?5tutti/)
        for (i = 1; i < count; i++)
          if (f ~ regex[i]) { print f, name[i]; break }
  }' | LC_ALL=C sort | awk '
  BEGIN {
    print "namespace tutti {\n[[noreturn]] void not_built(const char* part);\n"
    print "const char* missing_part_of(void (*function)());\n}"
  }
  {
    printf "extern \"C\" void later_%d() __asm__(\"%s\");\n", NR, $1
    printf "extern \"C\" void later_%d() { tutti::not_built(\"%s\"); }\n", NR, $2
    part[NR] = $2
  }
  END {
    print "const char* tutti::missing_part_of(void (*function)()) {"
    for (i = 1; i <= NR; i++) printf "  if (function == later_%d) return \"%s\";\n", i, part[i]
    print "  return nullptr;\n}"
  }' >"$output"
