# Installs BUILD into a fresh prefix, builds a copy of the heat worker and its main outside the tree against it, and runs
# a few steps.
# cmake -DBUILD=... -DROOT=... -DWORK=... -DCOMPILER=... -DGENERATOR=... -P outside.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${command} failed (${failed}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")

file(COPY "${CMAKE_CURRENT_LIST_DIR}/outside/CMakeLists.txt" "${ROOT}/apps/heat/main.cpp" DESTINATION "${WORK}/project")
file(COPY "${ROOT}/kernels/heat" DESTINATION "${WORK}/project/kernels")
file(REMOVE_RECURSE "${WORK}/prefix/include/kernels")  # the worker must be the copy, not the installed one
run("${CMAKE_COMMAND}" -S "${WORK}/project" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
run("${CMAKE_COMMAND}" --build "${WORK}/build")

# Nothing of the source tree may have been needed.
file(GLOB_RECURSE config "${WORK}/prefix/*.cmake")
foreach(file IN LISTS config)
  file(STRINGS "${file}" leaks REGEX "${ROOT}/|${BUILD}/" LIMIT_COUNT 1)
  if(leaks)
    message(FATAL_ERROR "${file} of the installed package points into the source or build tree: ${leaks}")
  endif()
endforeach()

file(GLOB configuration LIST_DIRECTORIES false "${ROOT}/apps/heat/*.toml")
list(GET configuration 0 configuration)
run("${WORK}/build/heat" "${configuration}" --set run.steps=4 --ranks 2 --out "${WORK}/out")
if(NOT output MATCHES "digest [0-9a-f]+ step 4")
  message(FATAL_ERROR "the program outside the tree printed no digest of step 4:\n${output}")
endif()
message("${output}")
file(REMOVE_RECURSE "${WORK}")
