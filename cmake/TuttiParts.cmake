# What the first command needs is the core. Everything else is in parts, each of which is built for the
# first command that calls one of its functions: until then, cmake/later.sh puts one in its place that
# throws NotBuilt (experiments/driver/studies/not_built.hpp). A part is a row of two patterns here:
#   files_PART      its files, by their paths from the root; every file of no part is in the core
#   functions_PART  what is called from outside of it, by mangled names; the first row that fits
set(tutti_parts formats planners sweep training runtime studies pictures)
set(files_formats "^topologies/import/yaml\\.cpp")
set(functions_formats "10parse_yaml")
set(files_planners "^synth/(sccl|teccl|taccl)/|/(frontiers/|frontier_command|sketch_)")
set(functions_planners "4sccl|5teccl|5taccl|t[ae]ccl_paper|[Ss]ketch|[Ff]rontier|logical_topology")
set(files_sweep "/driver/sweep/|sweep_command")
set(functions_sweep "5sweep|sweep_command")
set(files_training "^workloads/(traces|parallelism|planning)/|/(studies/training/|train_command)")
set(functions_training "[Tt]raining|train_command")
set(files_runtime "^runtime/|/studies/executions/|/(exec|profile|lower|import)_command")
set(functions_runtime "7runtime|12find_backend|Execution|PackBackend|(exec|profile|lower|import)_command")
set(files_studies "/studies/(failures|fits|jobs|measurements)/|/(failures|fit|jobs|compare|predict)_command")
set(functions_studies "Failure|failures_command|FitStudy|fit_command|Job|job|compare_command|predict_command")
# No files, only a package: pictures in PDF and PNG are made by a program.
set(files_pictures "^$")
set(functions_pictures "^$")
# What help, `tutti list`, completion and the core use of them.
set(tutti_in_core "(^|/)(options|keys|list|msccl/form|msccl/runtimes|schedule_messages|runtime/program|group_network)\\.cpp$")

set(TUTTI_PARTS all CACHE STRING "What is built beside the core: all, or some of ${tutti_parts}")
if(TUTTI_PARTS STREQUAL "all")
  set(TUTTI_PARTS ${tutti_parts})
endif()
foreach(part ${TUTTI_PARTS})
  if(NOT part IN_LIST tutti_parts)
    list(JOIN tutti_parts ", " known)
    message(FATAL_ERROR "there is no part \"${part}\" (known: ${known})")
  endif()
endforeach()

# "core", or the part that the file, a path from the root, is of.
function(tutti_part_of result file)
  set(${result} core PARENT_SCOPE)
  if(file MATCHES "${tutti_in_core}|^tests/")
    return()
  endif()
  foreach(part ${tutti_parts})
    if(file MATCHES "${files_${part}}")
      set(${result} ${part} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Leaves those of the list of absolute paths that are built.
function(tutti_keep_built list_name)
  foreach(source ${${list_name}})
    file(RELATIVE_PATH file "${PROJECT_SOURCE_DIR}" "${source}")
    tutti_part_of(part "${file}")
    if(part STREQUAL "core" OR part IN_LIST TUTTI_PARTS)
      list(APPEND kept "${source}")
    endif()
  endforeach()
  set(${list_name} "${kept}" PARENT_SCOPE)
endfunction()

# Gives the program what throws NotBuilt in place of the functions that these objects or archives call
# of parts that are missing in them.
function(tutti_add_later program objects missing)
  foreach(part ${missing})
    list(APPEND rows "${part} ${functions_${part}}")
  endforeach()
  list(TRANSFORM tutti_folders PREPEND tutti_ OUTPUT_VARIABLE libraries)
  set(later "${PROJECT_BINARY_DIR}/${program}_later.cpp")
  add_custom_command(OUTPUT "${later}"
    COMMAND "${PROJECT_SOURCE_DIR}/cmake/later.sh" "${later}" ${rows} -- "${objects}"
    DEPENDS "${PROJECT_SOURCE_DIR}/cmake/later.sh" ${libraries} VERBATIM COMMAND_EXPAND_LISTS)
  target_sources(${program} PRIVATE "${later}")
  set_source_files_properties("${later}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# What was built of Tutti's libraries, and what of it isn't.
set(missing_parts ${tutti_parts})
list(REMOVE_ITEM missing_parts ${TUTTI_PARTS})
set(tutti_folders experiments sim algorithms synth topologies workloads runtime)
function(tutti_without_missing_parts program)
  if(missing_parts)
    list(TRANSFORM tutti_folders REPLACE "(.+)" "$<TARGET_FILE:tutti_\\1>" OUTPUT_VARIABLE archives)
    tutti_add_later(${program} "${archives}" "${missing_parts}")
  endif()
endfunction()
