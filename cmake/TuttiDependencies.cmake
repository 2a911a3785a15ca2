# What the static libraries link, and so what those who use the installed package link too. Include
# directories are SYSTEM: imported targets'.
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(clp REQUIRED IMPORTED_TARGET clp)
pkg_check_modules(cbc REQUIRED IMPORTED_TARGET cbc)
pkg_check_modules(pugixml REQUIRED IMPORTED_TARGET pugixml)
if(NOT DEFINED TUTTI_PARTS OR formats IN_LIST TUTTI_PARTS)
  pkg_check_modules(yaml-cpp REQUIRED IMPORTED_TARGET yaml-cpp)
endif()
if(NOT DEFINED TUTTI_PARTS OR sweep IN_LIST TUTTI_PARTS)
  pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
endif()
find_package(Threads REQUIRED)
if(TUTTI_WITH_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
find_package(highs CONFIG QUIET) # used instead of Cbc where it is there

# bliss comes with a pkg-config file on Debian; others build it with GMP too, and its classes differ
# without.
pkg_check_modules(bliss IMPORTED_TARGET libbliss-cxx)
if(NOT bliss_FOUND AND NOT TARGET PkgConfig::bliss)
  find_path(BLISS_INCLUDE_DIR bliss/graph.hh REQUIRED)
  find_library(BLISS_LIBRARY bliss REQUIRED)
  find_library(GMP_LIBRARY gmp REQUIRED)
  add_library(PkgConfig::bliss INTERFACE IMPORTED)
  set_target_properties(PkgConfig::bliss PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${BLISS_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS BLISS_USE_GMP
    INTERFACE_LINK_LIBRARIES "${BLISS_LIBRARY};${GMP_LIBRARY}")
endif()

find_path(CADICAL_INCLUDE_DIR cadical.hpp REQUIRED)
find_library(CADICAL_LIBRARY cadical REQUIRED)
if(NOT TARGET tutti_cadical)
  add_library(tutti_cadical UNKNOWN IMPORTED)
  set_target_properties(tutti_cadical PROPERTIES
    IMPORTED_LOCATION "${CADICAL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CADICAL_INCLUDE_DIR}")
endif()

# Newer ones bring a configuration, which links what their headers need (abseil).
find_package(ZLIB REQUIRED)
if(NOT DEFINED TUTTI_PARTS OR training IN_LIST TUTTI_PARTS)
  find_package(Protobuf CONFIG QUIET)
  if(NOT Protobuf_FOUND)
    find_package(Protobuf REQUIRED)
  endif()
endif()
