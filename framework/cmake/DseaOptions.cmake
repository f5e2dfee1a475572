# Options, optional parts and compiler flags of a build of DSEA itself.
# An optional part is AUTO (use it when it is found), ON (an error when it is missing) or OFF.

option(DSEA_CUDA "Build the CUDA back end beside the host back end" OFF)
# For tests without nvcc and without a GPU: the CUDA back end and all kernels are compiled by the host compiler, against
# NVIDIA's headers and the stand-in for the CUDA runtime in tests/cuda_shim, which runs them on the CPU. Needs
# cuda_runtime_api.h (12.4 or later); without it everything is built as without CUDA, and a message says so. Shows logic
# and order, nothing about a GPU; far slower than the host back end.
option(DSEA_CUDA_SHIM "Run the CUDA back end on the CPU, in tests" OFF)
option(DSEA_WERROR "Warnings are errors" OFF)
option(DSEA_UNITY "Compile several sources of the library at a time: half the time for a build from scratch" OFF)
option(DSEA_TESTS "Build the tests" ON)
option(DSEA_BENCH "Build the benchmark programs" ON)
set(DSEA_SANITIZE "" CACHE STRING "Sanitizers for everything: address,undefined or thread")

set(dsea_summary "")
function(dsea_note part text)
  string(LENGTH "${part}" length)
  math(EXPR fill "14 - ${length}")
  string(REPEAT " " ${fill} blanks)
  list(APPEND dsea_summary "${part}${blanks}${text}")
  set(dsea_summary "${dsea_summary}" PARENT_SCOPE)
endfunction()

function(dsea_print_summary)
  message(STATUS "dsea ${PROJECT_VERSION}:")
  foreach(line IN LISTS dsea_summary)
    message(STATUS "  ${line}")
  endforeach()
endfunction()

# dsea_optional(NAME found "where it was found") decides DSEA_USE_<NAME> from the option DSEA_<NAME> and what was found.
function(dsea_optional name found where)
  set(use OFF)
  if(DSEA_${name} STREQUAL "AUTO" OR DSEA_${name})
    if(found)
      set(use ON)
      set(text "${where}")
    elseif(DSEA_${name} STREQUAL "AUTO")
      set(text "not found: left out")
    else()
      message(FATAL_ERROR "DSEA_${name} is ON but ${name} was not found: install it, point CMAKE_PREFIX_PATH at it, "
                          "or configure with -DDSEA_${name}=AUTO")
    endif()
  else()
    set(text "off")
  endif()
  set(DSEA_USE_${name} ${use} PARENT_SCOPE)
  dsea_note("${name}" "${text}")
  set(dsea_summary "${dsea_summary}" PARENT_SCOPE)
endfunction()

foreach(part MPI OPENMP HDF5 UCX NCCL)
  set(DSEA_${part} AUTO CACHE STRING "AUTO, ON or OFF")
  set_property(CACHE DSEA_${part} PROPERTY STRINGS AUTO ON OFF)
endforeach()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
dsea_note("build" "${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")

set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(DSEA_CCACHE ccache)
mark_as_advanced(DSEA_CCACHE)
if(DSEA_CCACHE)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${DSEA_CCACHE}")
    endif()
  endforeach()
endif()

# ---- CUDA ----
set(DSEA_USE_CUDA OFF)
set(DSEA_USE_SHIM OFF)
if(DSEA_CUDA_SHIM)
  if(DSEA_CUDA OR NOT DSEA_TESTS OR DSEA_SANITIZE MATCHES "thread")
    message(FATAL_ERROR "DSEA_CUDA_SHIM excludes DSEA_CUDA and the thread sanitizer, and needs DSEA_TESTS")
  endif()
  find_path(DSEA_CUDA_INCLUDE cuda_runtime_api.h
            HINTS "$ENV{CUDA_HOME}/include" "$ENV{CUDA_PATH}/include" /usr/local/cuda/include)
  mark_as_advanced(DSEA_CUDA_INCLUDE)
  if(DSEA_CUDA_INCLUDE)
    set(DSEA_USE_SHIM ON)
    dsea_note("CUDA" "shim on the CPU, headers of ${DSEA_CUDA_INCLUDE}")
  else()
    message(WARNING "cuda_runtime_api.h was not found: the CUDA shim and its tests are left out; set CUDA_HOME")
    dsea_note("CUDA" "shim left out: no cuda_runtime_api.h")
  endif()
elseif(DSEA_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(DSEA_USE_CUDA ON)
  string(REPLACE ";" ", " architectures "${CMAKE_CUDA_ARCHITECTURES}")
  dsea_note("CUDA" "${CUDAToolkit_VERSION}, sm ${architectures}")
else()
  dsea_note("CUDA" "off")
endif()

# ---- OpenMP, MPI, threads ----
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
if(DSEA_OPENMP)
  find_package(OpenMP QUIET COMPONENTS CXX)
endif()
dsea_optional(OPENMP "${OpenMP_CXX_FOUND}" "${OpenMP_CXX_VERSION}")
if(DSEA_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C interface only
  find_package(MPI QUIET COMPONENTS CXX)
endif()
dsea_optional(MPI "${MPI_CXX_FOUND}" "${MPI_CXX_VERSION}, ${MPIEXEC_EXECUTABLE}")

# ---- UCX: for transport ucx, whose processes MPI starts ----
find_package(PkgConfig QUIET)
set(DSEA_UCX_FOUND OFF)
if(DSEA_UCX AND DSEA_USE_MPI)
  find_path(DSEA_UCX_INCLUDE ucp/api/ucp.h)
  find_library(DSEA_UCP_LIBRARY ucp)
  find_library(DSEA_UCS_LIBRARY ucs)
  mark_as_advanced(DSEA_UCX_INCLUDE DSEA_UCP_LIBRARY DSEA_UCS_LIBRARY)
  if(DSEA_UCX_INCLUDE AND DSEA_UCP_LIBRARY AND DSEA_UCS_LIBRARY)
    set(DSEA_UCX_FOUND ON)
  endif()
endif()
dsea_optional(UCX "${DSEA_UCX_FOUND}" "${DSEA_UCP_LIBRARY}")

# ---- found and reported, not used yet ----
function(dsea_look_for name module header)
  set(found OFF)
  if(DSEA_${name})
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(dsea_${name} QUIET ${module})
    endif()
    find_path(DSEA_${name}_INCLUDE ${header} HINTS ${dsea_${name}_INCLUDE_DIRS})
    mark_as_advanced(DSEA_${name}_INCLUDE)
    if(DSEA_${name}_INCLUDE)
      set(found ON)
    endif()
  endif()
  dsea_optional(${name} ${found} "${DSEA_${name}_INCLUDE} (found, not used yet)")
  set(dsea_summary "${dsea_summary}" PARENT_SCOPE)
endfunction()
dsea_look_for(HDF5 hdf5 hdf5.h)
dsea_look_for(NCCL nccl nccl.h)  # transport nccl loads the library when it runs; a test compares with the header

# ---- header-only libraries that only DSEA's own sources see ----
foreach(entry "TOMLPP|toml++/toml.h|libtomlplusplus-dev" "CLI11|CLI/CLI.hpp|libcli11-dev"
              "JSON|nlohmann/json.hpp|nlohmann-json3-dev")
  string(REPLACE "|" ";" entry "${entry}")
  list(POP_FRONT entry name header package)
  find_path(DSEA_${name}_INCLUDE ${header})
  mark_as_advanced(DSEA_${name}_INCLUDE)
  if(NOT DSEA_${name}_INCLUDE)
    message(FATAL_ERROR "${header} was not found: run ./dev setup, or install ${package} (Debian's name)")
  endif()
  list(APPEND dsea_private_includes "${DSEA_${name}_INCLUDE}")
endforeach()
list(REMOVE_DUPLICATES dsea_private_includes)

# ---- flags ----
if(DSEA_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${DSEA_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  if(DSEA_SANITIZE MATCHES "undefined")
    # What AddressSanitizer sees anyway, and what makes compiling three times as slow.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,object-size,vptr>")
  endif()
  add_link_options("-fsanitize=${DSEA_SANITIZE}")
  dsea_note("sanitizers" "${DSEA_SANITIZE}")
endif()

# dsea_own_flags(target): the warnings that DSEA's own sources are held to.
function(dsea_own_flags target)
  set(warnings -Wall -Wextra -Wshadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND warnings -Wno-restrict)  # false alarms on std::string's operator+ (GCC bug 105651, repaired in 13)
  endif()
  string(REPLACE ";" "," cuda_warnings "${warnings}")
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${cuda_warnings}>")
  if(DSEA_WERROR)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings -Xcompiler=-Werror -Xptxas=--warn-on-spills,--warning-as-error>")
  endif()
endfunction()
