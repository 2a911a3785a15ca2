# The CUDA executor, runtime/cuda/: built where there is an nvcc that takes the project's compiler.
set(TUTTI_WITH_CUDA OFF)
if(NOT TUTTI_CUDA)
  return()
endif()

# On the path or where CUDACXX, CUDA_PATH say, else where NVIDIA's installer puts it.
if(NOT DEFINED CMAKE_CUDA_COMPILER)
  get_filename_component(cuda_compiler_dir "$ENV{CUDACXX}" DIRECTORY)
  find_program(TUTTI_NVCC nvcc HINTS "${cuda_compiler_dir}" "$ENV{CUDA_PATH}/bin"
               PATHS /usr/local/cuda/bin)
  mark_as_advanced(TUTTI_NVCC)
  if(TUTTI_NVCC AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} "${TUTTI_NVCC}")
  endif()
endif()
if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER)
  set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual) # Ampere, Hopper, and what comes later
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "no nvcc: without the CUDA executor")
  return()
endif()
enable_language(CUDA)
set(TUTTI_WITH_CUDA ON)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 knows nvcc's C++17 only
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()

# tutti_cuda, as objects, so that whoever links them needs CUDA's runtime library, but no nvcc.
function(tutti_add_cuda_objects)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/cuda/*.cu"
                                      "${PROJECT_SOURCE_DIR}/runtime/cuda/*.cpp") # host only
  add_library(tutti_cuda OBJECT ${sources})
  set_target_properties(tutti_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(tutti_cuda PRIVATE "${PROJECT_SOURCE_DIR}")
  # What nvcc generates is not ours to warn of; what it says of our code is.
  target_compile_options(tutti_cuda PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-Wall,-Wextra,-Wshadow>")
  target_link_libraries(tutti_cuda PRIVATE CUDA::cudart_static) # its headers
endfunction()

# Puts them into tutti_runtime.
function(tutti_add_cuda_executor)
  get_target_property(runtime_sources tutti_runtime SOURCES)
  list(REMOVE_ITEM runtime_sources "${PROJECT_SOURCE_DIR}/runtime/no_cuda.cpp")
  set_target_properties(tutti_runtime PROPERTIES SOURCES "${runtime_sources}")
  target_sources(tutti_runtime PRIVATE $<TARGET_OBJECTS:tutti_cuda>)
  target_link_libraries(tutti_runtime PRIVATE CUDA::cudart_static)
endfunction()
