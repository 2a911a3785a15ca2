# The command tutti-gpu, gpu/: for machines that have a GPU, its driver, and nothing of what Tutti
# needs. What it is made of uses the standard library and CUDA alone.
set(tutti_gpu_shared_sources sim/error.cpp sim/files/csv.cpp sim/files/files.cpp sim/files/standard_files.cpp
    runtime/data.cpp runtime/executor.cpp runtime/hung_run.cpp runtime/program.cpp
    runtime/plans/issue_order.cpp runtime/plans/plan.cpp runtime/plans/planned_run.cpp
    runtime/plans/traffic.cpp)
file(GLOB pack_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/runtime/pack/*.cpp")
list(APPEND tutti_gpu_shared_sources ${pack_sources}) # what tutti_sim and tutti_runtime have, too

# tutti_gpu_parts: all of gpu/ but main(), for tests, too. Who links it has the shared sources.
function(tutti_add_gpu_parts)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/gpu/*.cpp")
  list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/gpu/main.cpp")
  add_library(tutti_gpu_parts STATIC ${sources})
  target_include_directories(tutti_gpu_parts PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(tutti_gpu_parts PUBLIC ${CMAKE_DL_LIBS})
endfunction()

# tutti-gpu itself. Needs tutti_cuda.
function(tutti_add_gpu_command)
  add_executable(tutti_gpu gpu/main.cpp ${tutti_gpu_shared_sources} $<TARGET_OBJECTS:tutti_cuda>)
  set_target_properties(tutti_gpu PROPERTIES OUTPUT_NAME tutti-gpu UNITY_BUILD OFF)
  target_link_libraries(tutti_gpu PRIVATE tutti_gpu_parts CUDA::cudart_static)
  # A bare machine's libstdc++ may be older than ours.
  target_link_options(tutti_gpu PRIVATE -static-libgcc -static-libstdc++)
endfunction()
